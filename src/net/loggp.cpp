// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <cairn/net/loggp.hpp>

namespace cairn::net {
namespace {

std::uint64_t rounded(double ns) { return static_cast<std::uint64_t>(std::llround(ns)); }

}  // namespace

loggp_network::loggp_network(rank_t ranks, hw::virtual_clock& clock, const loggp& costs,
                             loggp_options options)
    : simulated_network(ranks, options.max_packet),
      clock_(clock),
      latency_ns_(rounded(costs.latency_ns)),
      overhead_ns_(rounded(costs.overhead_ns)),
      gap_ns_(rounded(costs.gap_ns)),
      byte_ns_(costs.byte_ns),
      options_(std::move(options)),
      link_times_(static_cast<std::size_t>(ranks)) {}

std::size_t loggp_network::packet_cost() const noexcept {
  constexpr double handling_ns = 1;  // of a byte, at both ends; approximate
  const auto bytes = static_cast<double>(overhead_ns_) / (byte_ns_ + handling_ns);
  return static_cast<std::size_t>(std::clamp(bytes, 128.0, 16.0 * 1024));
}

std::uint64_t loggp_network::tail_ns(std::size_t packet_bytes) const noexcept {
  return packet_bytes < 2 ? 0 : rounded(static_cast<double>(packet_bytes - 1) * byte_ns_);
}

std::uint64_t loggp_network::arrival_ns(rank_t at) const {
  const auto& next = flights_to(at).front();
  return std::max(next.time_ns, times_of(at).in_free_ns) + tail_ns(next.packet.size());
}

std::optional<std::uint64_t> loggp_network::next_due_ns(rank_t rank, std::uint64_t after_ns) const {
  if (flights_to(rank).empty()) return std::nullopt;
  const auto due = arrival_ns(rank);
  return due > after_ns ? std::optional(due) : std::nullopt;
}

bool loggp_network::send(rank_t from, rank_t to, std::span<const std::byte> packet) {
  if (options_.before_send) options_.before_send(from);
  clock_.advance(overhead_ns_);
  auto& free_ns = times_of(from).out_free_ns;
  const auto leaves_ns = std::max(clock_.now_ns(), free_ns);
  free_ns = leaves_ns + tail_ns(packet.size()) + gap_ns_;
  const bool comes = enqueue(from, to, leaves_ns + latency_ns_, packet);
  if (comes && options_.expect) options_.expect(to, arrival_ns(to));
  return true;
}

std::size_t loggp_network::poll(rank_t at, const transport::sink& deliver) {
  const auto& flights = flights_to(at);
  const auto now = clock_.now_ns();
  std::size_t taken = 0;
  for (; !flights.empty(); ++taken) {
    const auto came_ns = arrival_ns(at);
    if (came_ns > now) break;
    times_of(at).in_free_ns = came_ns + gap_ns_;
    clock_.advance(overhead_ns_);
    deliver_first(at, deliver);
  }
  return taken;
}

}  // namespace cairn::net
