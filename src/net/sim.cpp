// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/net/sim.hpp>

namespace cairn::net {
namespace {

// One packet in late_one_in is late, by up to max_late times the latency.
constexpr std::uint64_t late_one_in = 16;
constexpr double max_late = 8;
constexpr double slowness = 4, max_quiet = 64;

}  // namespace

sim_network::sim_network(rank_t ranks, random64& random, const hw::clock& clock,
                         const sim_options& options)
    : simulated_network(ranks, options.max_packet),
      random_(random),
      clock_(clock),
      options_(options),
      refusals_(static_cast<std::size_t>(ranks)),
      quiet_until_ns_(static_cast<std::size_t>(ranks)) {
  if (options.slow_one_in == 0 || random.below(options.slow_one_in) != 0) return;
  slow_ = static_cast<rank_t>(random.below(static_cast<std::uint64_t>(ranks)));
}

std::optional<std::uint64_t> sim_network::next_due_ns() const {
  const auto now = clock_.now_ns();
  std::optional<std::uint64_t> next;
  const auto consider = [&](const flight& f) {
    if (f.time_ns > now && (!next || f.time_ns < *next)) next = f.time_ns;
  };
  for (const auto& to : arrivals_by_rank()) {
    if (to.flights.empty()) continue;
    if (to.flights.front().time_ns > now) {
      consider(to.flights.front());
    } else {
      for (const auto& f : to.flights) consider(f);  // skips arrived packets that wait for a poll
    }
  }
  return next;
}

std::uint64_t sim_network::arrival_ns(rank_t from, rank_t to) {
  const auto after = [&, now = clock_.now_ns()](double latencies) {
    return now + static_cast<std::uint64_t>(latencies * static_cast<double>(options_.latency_ns));
  };
  auto latencies = 0.5 + random_.uniform();
  if (random_.below(late_one_in) == 0) latencies += (max_late - 1.5) * random_.uniform();
  if (from == slow_ || to == slow_) latencies *= slowness;
  auto& quiet_until_ns = quiet_until_ns_[static_cast<std::size_t>(to)];
  if (options_.quiet_one_in != 0 && random_.below(options_.quiet_one_in) == 0) {
    quiet_until_ns = std::max(quiet_until_ns, after(max_quiet * random_.uniform()));
  }
  return std::max(after(latencies), quiet_until_ns);
}

bool sim_network::send(rank_t from, rank_t to, std::span<const std::byte> packet) {
  auto& refusals = refusals_[static_cast<std::size_t>(from)];
  if (options_.refuse_one_in != 0 && refusals < options_.max_refusals &&
      random_.below(options_.refuse_one_in) == 0) {
    ++refusals;
    refuse();
    return false;
  }
  refusals = 0;
  enqueue(from, to, arrival_ns(from, to), packet);
  return true;
}

std::size_t sim_network::poll(rank_t at, const transport::sink& deliver) {
  const auto& flights = flights_to(at);
  const auto now = clock_.now_ns();
  std::size_t taken = 0;
  for (; !flights.empty() && flights.front().time_ns <= now; ++taken) deliver_first(at, deliver);
  return taken;
}

}  // namespace cairn::net
