// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>

#include <cairn/am/route.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::am {
namespace {

// log2 of the row length that minimises the ranks of a row and a column together. Of two equal
// lengths it is the longer one, because neighbors in a row often share a machine.
int best_column_bits(rank_t size) {
  int best = 0;
  auto fewest = std::numeric_limits<std::int64_t>::max();
  for (int bits = 0; (std::int64_t{1} << bits) < 2 * std::int64_t{size}; ++bits) {
    const auto row = std::int64_t{1} << bits;
    const auto ranks = row + (size + row - 1) / row;
    if (ranks <= fewest) best = bits, fewest = ranks;
  }
  return best;
}

// By machine, the next hop of rank `self` to the ranks of that machine; -1 for its own machine.
std::vector<rank_t> hops_towards_machines(rank_t self, std::span<const int> machine_of) {
  std::vector<std::vector<rank_t>> ranks_of;  // by machine
  for (rank_t r = 0; r < static_cast<rank_t>(machine_of.size()); ++r) {
    const auto machine = machine_of[static_cast<std::size_t>(r)];
    CAIRN_EXPECTS(0 <= machine && static_cast<std::size_t>(machine) < machine_of.size());
    const auto m = static_cast<std::size_t>(machine);
    if (ranks_of.size() <= m) ranks_of.resize(m + 1);
    ranks_of[m].push_back(r);
  }
  const auto own = static_cast<std::size_t>(machine_of[static_cast<std::size_t>(self)]);
  // The rank of machine `here` through which all messages to and from machine `there` pass.
  const auto rank_for = [&](std::size_t here, std::size_t there) {
    return ranks_of[here][there % ranks_of[here].size()];
  };
  std::vector<rank_t> hops(ranks_of.size(), -1);
  for (std::size_t m = 0; m < hops.size(); ++m) {
    if (m == own || ranks_of[m].empty()) continue;
    const auto leaves = rank_for(own, m);
    hops[m] = leaves == self ? rank_for(m, own) : leaves;
  }
  return hops;
}

}  // namespace

route::route(routing scheme, rank_t self, rank_t size, std::span<const int> machine_of)
    : scheme_(is_direct(scheme) ? routing::direct : scheme), self_(self), size_(size) {
  CAIRN_EXPECTS(0 <= self && self < size);
  if (scheme == routing::grid) column_bits_ = best_column_bits(size);
  if (scheme == routing::machine) {
    CAIRN_EXPECTS(machine_of.size() == static_cast<std::size_t>(size),
                  "there is one machine per rank");
    machine_of_.assign(machine_of.begin(), machine_of.end());
    towards_machine_ = hops_towards_machines(self, machine_of);
  }
}

std::vector<rank_t> route::next_hops() const {
  std::vector<rank_t> hops;
  for (rank_t to = 0; to < size_; ++to) {
    if (to != self_) hops.push_back(next_hop(to));
  }
  std::ranges::sort(hops);
  hops.erase(std::unique(hops.begin(), hops.end()), hops.end());
  return hops;
}

int route::max_hops() const noexcept {
  switch (scheme_) {
    case routing::grid:
      return 2;
    case routing::hypercube:
      return std::bit_width(static_cast<std::uint32_t>(size_ - 1));
    case routing::machine:
      return 3;
    default:
      return 1;
  }
}

}  // namespace cairn::am
