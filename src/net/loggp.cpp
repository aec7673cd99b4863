// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <net/best_packet.hpp>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/net/loggp.hpp>

namespace cairn::net {
namespace {

std::uint64_t whole(double ns) { return static_cast<std::uint64_t>(std::llround(ns)); }

}  // namespace

loggp_network::loggp_network(rank_t ranks, hw::virtual_clock& clock, const loggp& costs,
                             loggp_options options)
    : clock_(clock),
      latency_ns_(whole(costs.latency_ns)),
      overhead_ns_(whole(costs.overhead_ns)),
      gap_ns_(whole(costs.gap_ns)),
      byte_ns_(costs.byte_ns),
      options_(std::move(options)),
      ends_(static_cast<std::size_t>(ranks)) {
  CAIRN_EXPECTS(ranks >= 1);
  CAIRN_EXPECTS(options_.max_packet >= 1);
}

std::uint64_t loggp_network::tail_ns(std::size_t packet_bytes) const noexcept {
  return packet_bytes < 2 ? 0 : whole(static_cast<double>(packet_bytes - 1) * byte_ns_);
}

std::uint64_t loggp_network::arrival_ns(const end& at) const noexcept {
  const auto& next = at.flights.front();
  return std::max(next.first_ns, at.in_free_ns) + tail_ns(next.packet.size());
}

std::optional<std::uint64_t> loggp_network::next_due_ns(rank_t rank, std::uint64_t after_ns) const {
  const auto& at = ends_[static_cast<std::size_t>(rank)];
  if (at.flights.empty()) return std::nullopt;
  const auto due = arrival_ns(at);
  return due > after_ns ? std::optional(due) : std::nullopt;
}

loggp_transport::loggp_transport(loggp_network& network, rank_t self)
    : network_(network), self_(self) {
  CAIRN_EXPECTS(self >= 0 && self < network.ranks());
}

loggp_transport::~loggp_transport() {
  auto& here = network_.ends_[static_cast<std::size_t>(self_)];
  here.closed = true;
  here.flights.clear();
}

std::size_t loggp_transport::max_packet() const noexcept { return network_.options_.max_packet; }

std::size_t loggp_transport::best_packet() const noexcept { return best_packet_of(max_packet()); }

bool loggp_transport::send(rank_t to, std::span<const std::byte> packet) {
  auto& net = network_;
  CAIRN_EXPECTS(to >= 0 && to < size() && to != self_);
  CAIRN_EXPECTS(packet.size() <= max_packet());
  if (net.options_.before_send) net.options_.before_send(self_);
  net.clock_.advance(net.overhead_ns_);
  auto& here = net.ends_[static_cast<std::size_t>(self_)];
  const auto leaves_ns = std::max(net.clock_.now_ns(), here.out_free_ns);
  here.out_free_ns = leaves_ns + net.tail_ns(packet.size()) + net.gap_ns_;
  const auto number = net.packets_++;
  net.bytes_ += packet.size();
  auto& there = net.ends_[static_cast<std::size_t>(to)];
  if (there.closed) return true;
  there.flights.push_back(
      {leaves_ns + net.latency_ns_, number, self_, {packet.begin(), packet.end()}});
  std::push_heap(there.flights.begin(), there.flights.end());
  if (net.options_.expect) net.options_.expect(to, net.arrival_ns(there));
  return true;
}

std::size_t loggp_transport::poll(const sink& deliver) {
  auto& net = network_;
  auto& here = net.ends_[static_cast<std::size_t>(self_)];
  const auto now = net.clock_.now_ns();
  std::size_t taken = 0;
  while (!here.flights.empty()) {
    const auto came_ns = net.arrival_ns(here);
    if (came_ns > now) break;
    std::pop_heap(here.flights.begin(), here.flights.end());
    const auto came = std::move(here.flights.back());
    here.flights.pop_back();
    here.in_free_ns = came_ns + net.gap_ns_;
    net.clock_.advance(net.overhead_ns_);
    ++taken;
    deliver(came.from, came.packet);
  }
  return taken;
}

}  // namespace cairn::net
