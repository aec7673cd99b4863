// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <net/best_packet.hpp>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/net/sim.hpp>

namespace cairn::net {
namespace {

// One packet in so many is late, by up to so many times the latency.
constexpr std::uint64_t late_one_in = 16;
constexpr double most_late = 8;

}  // namespace

sim_network::sim_network(rank_t ranks, random64& random, const hw::clock& clock,
                         const sim_options& options)
    : random_(random), clock_(clock), options_(options), inboxes_(static_cast<std::size_t>(ranks)) {
  CAIRN_EXPECTS(ranks >= 1);
  CAIRN_EXPECTS(options.max_packet >= 1);
}

std::size_t sim_network::in_flight() const noexcept {
  std::size_t n = 0;
  for (const auto& to : inboxes_) n += to.flights.size();
  return n;
}

std::optional<std::uint64_t> sim_network::next_due_ns() const {
  const auto now = clock_.now_ns();
  std::optional<std::uint64_t> next;
  const auto consider = [&](const flight& f) {
    if (f.due_ns > now && (!next || f.due_ns < *next)) next = f.due_ns;
  };
  for (const auto& to : inboxes_) {
    if (to.flights.empty()) continue;
    if (to.flights.front().due_ns > now) {
      consider(to.flights.front());
    } else {
      for (const auto& f : to.flights) consider(f);  // it has not polled: behind what waits there
    }
  }
  return next;
}

std::uint64_t sim_network::flight_time_ns() {
  auto times = 0.5 + random_.uniform();
  if (random_.below(late_one_in) == 0) times += (most_late - 1.5) * random_.uniform();
  return static_cast<std::uint64_t>(times * static_cast<double>(options_.latency_ns));
}

sim_transport::sim_transport(sim_network& network, rank_t self) : network_(network), self_(self) {
  CAIRN_EXPECTS(self >= 0 && self < network.ranks());
}

sim_transport::~sim_transport() {
  auto& inbox = network_.inboxes_[static_cast<std::size_t>(self_)];
  inbox.closed = true;
  inbox.flights.clear();
}

std::size_t sim_transport::max_packet() const noexcept { return network_.options_.max_packet; }

std::size_t sim_transport::best_packet() const noexcept { return best_packet_of(max_packet()); }

bool sim_transport::send(rank_t to, std::span<const std::byte> packet) {
  auto& net = network_;
  CAIRN_EXPECTS(to >= 0 && to < size() && to != self_);
  CAIRN_EXPECTS(packet.size() <= max_packet());
  const auto& options = net.options_;
  if (options.refuse_one_in != 0 && refusals_ < options.most_refusals &&
      net.random_.below(options.refuse_one_in) == 0) {
    ++refusals_;
    ++net.traffic_.refused;
    return false;
  }
  refusals_ = 0;
  auto& inbox = net.inboxes_[static_cast<std::size_t>(to)];
  const auto number = net.traffic_.packets++;
  net.traffic_.bytes += packet.size();
  const auto due_ns = net.clock_.now_ns() + net.flight_time_ns();
  if (inbox.closed) return true;
  inbox.flights.push_back({due_ns, number, self_, {packet.begin(), packet.end()}});
  std::push_heap(inbox.flights.begin(), inbox.flights.end());
  return true;
}

std::size_t sim_transport::poll(const sink& deliver) {
  auto& flights = network_.inboxes_[static_cast<std::size_t>(self_)].flights;
  const auto now = network_.clock_.now_ns();
  std::size_t taken = 0;
  while (!flights.empty() && flights.front().due_ns <= now) {
    std::pop_heap(flights.begin(), flights.end());
    const auto came = std::move(flights.back());
    flights.pop_back();
    ++taken;
    ++network_.traffic_.delivered;
    deliver(came.from, came.packet);
  }
  return taken;
}

}  // namespace cairn::net
