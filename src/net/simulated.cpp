// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/net/simulated.hpp>

namespace cairn::net {

simulated_network::simulated_network(rank_t ranks, std::size_t max_packet)
    : max_packet_(max_packet), arrivals_(static_cast<std::size_t>(ranks)) {
  CAIRN_EXPECTS(ranks >= 1);
  CAIRN_EXPECTS(max_packet >= 1);
}

std::size_t simulated_network::in_flight() const noexcept {
  std::size_t n = 0;
  for (const auto& to : arrivals_) n += to.flights.size();
  return n;
}

bool simulated_network::enqueue(rank_t from, rank_t to, std::uint64_t time_ns,
                                std::span<const std::byte> packet) {
  const auto number = traffic_.packets++;
  traffic_.bytes += packet.size();
  auto& destination = arrivals_[static_cast<std::size_t>(to)];
  if (destination.closed) return false;
  destination.flights.push_back({time_ns, number, from, {packet.begin(), packet.end()}});
  std::push_heap(destination.flights.begin(), destination.flights.end());
  return true;
}

void simulated_network::deliver_first(rank_t at, const transport::sink& deliver) {
  auto& flights = arrivals_[static_cast<std::size_t>(at)].flights;
  std::pop_heap(flights.begin(), flights.end());
  const auto arrived = std::move(flights.back());
  flights.pop_back();
  ++traffic_.delivered;
  deliver(arrived.from, arrived.packet);
}

simulated_transport::simulated_transport(simulated_network& network, rank_t self)
    : network_(network), self_(self) {
  CAIRN_EXPECTS(self >= 0 && self < network.ranks());
}

simulated_transport::~simulated_transport() {
  auto& own = network_.arrivals_[static_cast<std::size_t>(self_)];
  own.closed = true;
  own.flights.clear();
}

std::size_t simulated_transport::best_packet() const noexcept {
  return std::min(max_packet(), std::size_t{4} << 10);
}

bool simulated_transport::send(rank_t to, std::span<const std::byte> packet) {
  CAIRN_EXPECTS(to >= 0 && to < size() && to != self_);
  CAIRN_EXPECTS(packet.size() <= max_packet());
  return network_.send(self_, to, packet);
}

}  // namespace cairn::net
