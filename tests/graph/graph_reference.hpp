// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/csr.hpp>

namespace cairn::graph::reference {

struct plain_edge {
  std::uint64_t source, target;
  double weight;
  auto key() const { return std::tie(source, target, weight); }
  bool operator==(const plain_edge& o) const { return key() == o.key(); }
  bool operator<(const plain_edge& o) const { return key() < o.key(); }
};
using edge_list = std::vector<plain_edge>;

inline edge_list random_edges(std::uint64_t n, std::uint64_t m, std::uint64_t seed) {
  random64 random(seed);
  edge_list edges;
  for (std::uint64_t i = 0; i < m; ++i) {
    edges.push_back({random.below(n), random.below(n), static_cast<double>(random.below(100))});
  }
  return edges;
}

/// What the builder must make of `edges`, by a map: out-arcs, or in-arcs if `reversed`, sorted.
inline edge_list expected_arcs(const edge_list& edges, bool undirected, bool reversed,
                               const build_options& options) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>> arcs;
  for (const auto& e : edges) {
    if (e.source == e.target && options.drop_self_loops) continue;
    if (reversed) {
      arcs[{e.target, e.source}].push_back(e.weight);
    } else {
      arcs[{e.source, e.target}].push_back(e.weight);
      if (undirected && e.source != e.target) arcs[{e.target, e.source}].push_back(e.weight);
    }
  }
  edge_list expected;
  for (auto& [ends, weights] : arcs) {
    std::sort(weights.begin(), weights.end());
    if (options.drop_duplicates) weights.resize(1);
    for (const auto w : weights) expected.push_back({ends.first, ends.second, w});
  }
  return expected;
}

/// The arcs of these rows in order; weight 0 where there are none.
template <class Id>
edge_list arcs_of(const csr<Id>& rows) {
  edge_list arcs;
  for (auto v = rows.first(); v < rows.last(); ++v) {
    const auto list = rows.neighbors(v);
    for (std::size_t i = 0; i < list.size(); ++i) {
      double weight = 0;
      if (rows.template weighted_by<std::int32_t>()) {
        weight = rows.template edges_of<std::int32_t>(v)[i].weight;
      } else if (rows.template weighted_by<double>()) {
        weight = rows.template edges_of<double>(v)[i].weight;
      }
      arcs.push_back({v, list[i], weight});
    }
  }
  return arcs;
}

/// Rank `rank`'s share of the edges, as a reader would hand them over: every ranks-th block.
template <class Id>
io::raw_edges raw_share(const edge_list& edges, io::weight_kind weights, bool directed,
                        std::size_t block, rank_t rank, rank_t ranks) {
  io::raw_edges raw;
  raw.directed = directed;
  raw.weights = weights;
  const auto step = block * static_cast<std::size_t>(ranks);
  for (auto at = block * static_cast<std::size_t>(rank); at < edges.size(); at += step) {
    io::edge_block b;
    auto& list = b.edges.template emplace<std::vector<edge<Id>>>();
    std::vector<std::int32_t> whole;
    std::vector<double> real;
    for (auto i = at; i < std::min(edges.size(), at + block); ++i) {
      list.push_back({static_cast<Id>(edges[i].source), static_cast<Id>(edges[i].target)});
      whole.push_back(static_cast<std::int32_t>(edges[i].weight));
      real.push_back(edges[i].weight);
    }
    if (weights == io::weight_kind::integer) b.weights = std::move(whole);
    if (weights == io::weight_kind::real) b.weights = std::move(real);
    raw.blocks.push_back(std::move(b));
  }
  return raw;
}

}  // namespace cairn::graph::reference
