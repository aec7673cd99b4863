// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/random_graphs.hpp>

namespace cairn::support {

namespace detail {

template <class T>
graph::array<T> to_array(const std::vector<T>& values) {
  hw::page_buffer<T> copy(values.size());
  std::copy(values.begin(), values.end(), copy.begin());
  return graph::array<T>(std::move(copy));
}

template <class Id>
graph::csr<Id> rows_of(const std::vector<std::vector<std::uint64_t>>& lists,
                       const pgas::partition& partition, rank_t rank) {
  std::vector<std::uint64_t> offsets{0};
  std::vector<Id> targets;
  for (auto v = partition.first(rank); v < partition.last(rank); ++v) {
    for (const auto u : lists[v]) targets.push_back(static_cast<Id>(u));
    offsets.push_back(targets.size());
  }
  return {partition.first(rank), to_array(offsets), to_array(targets)};
}

}  // namespace detail

enum class in_edges { no, yes };

/// One rank's share of a plain graph, constructed without the builder, which has tests of its own.
template <class Id>
graph::dist_csr<Id> share_of(const plain_graph& g, rank_t rank, const pgas::partition& partition,
                             in_edges in = in_edges::yes) {
  graph::dist_csr<Id> share(partition, g.directed, g.edges.size(),
                            detail::rows_of<Id>(g.neighbors(), partition, rank),
                            graph::labels(g.n));
  if (g.directed && in == in_edges::yes) {
    auto reversed = g;
    for (auto& e : reversed.edges) std::swap(e.source, e.target);
    share.add_inverse(detail::rows_of<Id>(reversed.neighbors(), partition, rank));
  }
  return share;
}
/// share_of with equal blocks.
template <class Id>
graph::dist_csr<Id> share_of(const plain_graph& g, rank_t rank, rank_t ranks,
                             in_edges in = in_edges::yes) {
  return share_of<Id>(g, rank, pgas::partition(g.n, ranks), in);
}

/// Equal blocks, or blocks of random sizes, of which some are empty.
inline pgas::partition random_partition(std::uint64_t n, rank_t ranks, random64& random) {
  if (random.below(2) == 0) return {n, ranks};
  std::vector<std::uint64_t> cuts{0, n};
  for (rank_t r = 1; r < ranks; ++r) cuts.push_back(random.below(n + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 1; i < cuts.size(); ++i) sizes.push_back(cuts[i] - cuts[i - 1]);
  return pgas::partition::listed(sizes);
}

/// The values of all vertices in order, on every rank. no_vertex becomes the largest 64-bit number,
/// as in the references. Collective.
template <class Id>
std::vector<std::uint64_t> whole(world& w, const pgas::vertex_map<Id>& map) {
  std::vector<std::uint64_t> values;
  for (const Id x : w.all_gather_values<Id>(map.local())) {
    values.push_back(x == no_vertex<Id> ? no_vertex<std::uint64_t> : x);
  }
  return values;
}

}  // namespace cairn::support
