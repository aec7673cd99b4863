// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/net/step_probe.hpp>

namespace cairn::net {
namespace {

constexpr std::uint64_t max_wait_ns = 10'000'000'000;

// A quarter of the times are below the first.
struct quartiles {
  double first = 0, median = 0;
};

quartiles quartiles_of(std::vector<std::uint64_t> times) {
  std::ranges::sort(times);
  return {static_cast<double>(times[times.size() / 4]),
          static_cast<double>(times[times.size() / 2])};
}

}  // namespace

std::optional<std::size_t> step_probe::next(std::uint64_t now_ns) {
  if (!started_ns_) started_ns_ = now_ns;
  if (round_ > max_rounds || now_ns - *started_ns_ >= limit_ns_) return std::nullopt;
  sent_ns_ = now_ns;
  return size_of(at_);
}

void step_probe::answered(std::uint64_t now_ns) {
  if (round_ != 0) took_ns_[at_].push_back(now_ns - sent_ns_);
  if (++at_ < num_probes) return;
  at_ = 0;
  ++round_;
}

std::uint32_t step_probe::found() const {
  std::uint32_t steps = 0;
  for (std::size_t i = 0; i < num_sizes; ++i) {
    const auto& lower = took_ns_[2 * i];
    const auto& upper = took_ns_[2 * i + 1];
    if (upper.size() < min_rounds) continue;
    const auto a = quartiles_of(lower), b = quartiles_of(upper);
    const auto by_bytes =
        static_cast<double>(size_of(2 * i + 1)) / static_cast<double>(size_of(2 * i));
    if (b.first > 1.15 * by_bytes * a.first && b.first > a.median) steps |= 1u << i;
  }
  return steps;
}

std::vector<std::size_t> step_probe::largest_before(std::uint32_t steps) {
  std::vector<std::size_t> largest;
  for (std::size_t i = 0; i < num_sizes; ++i) {
    if ((steps >> i & 1) != 0) largest.push_back((first_size << i) - below);
  }
  return largest;
}

std::uint32_t probe_steps(transport& net, rank_t asker, rank_t responder, std::uint64_t limit_ns) {
  CAIRN_EXPECTS(net.max_packet() >= step_probe::largest_size);
  if (net.self() != asker && net.self() != responder) return 0;
  constexpr std::size_t end = 1;  // bytes of the packet that says so
  std::vector<std::byte> packet(net.max_packet());
  const hw::steady_clock clock;
  const auto send = [&](rank_t to, std::size_t bytes) {
    const auto deadline = clock.now_ns() + max_wait_ns;
    while (!net.send(to, std::span(packet).first(bytes))) {
      if (clock.now_ns() > deadline) throw system_failure("no packet could be sent for 10 s");
      net.poll([](rank_t, auto) {});
    }
  };
  const auto receive = [&] {
    std::size_t bytes = 0;
    const auto note = [&](rank_t, std::span<const std::byte> got) { bytes = got.size(); };
    const auto deadline = clock.now_ns() + max_wait_ns;
    // The two may share a core.
    while (net.poll(note) == 0) {
      if (clock.now_ns() > deadline) throw system_failure("no packet arrived for 10 s");
      std::this_thread::yield();
    }
    return bytes;
  };
  if (net.self() == responder) {
    for (auto bytes = receive(); bytes != end; bytes = receive()) send(asker, bytes);
    return 0;
  }
  step_probe probe(limit_ns);
  while (const auto bytes = probe.next(clock.now_ns())) {
    send(responder, *bytes);
    const auto answer = receive();
    CAIRN_EXPECTS(answer == *bytes, "a packet that nobody should have sent");
    probe.answered(clock.now_ns());
  }
  send(responder, end);
  return probe.found();
}

}  // namespace cairn::net
