// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/edge.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/traverse/weighted_rows.hpp>

namespace cairn::algo {

/// The edges of a graph on one rank, reordered for shortest paths: each row is ordered by eight
/// bins of weights, lightest first, so that a search within a radius skips the end of a row. The
/// layout of a directed graph includes its in-edges.
///
/// Memory    a weighted_edge per entry; directed graphs: twice that, and the offsets of in-rows;
///           while it is built once more
/// Source    [DC15] for ordered work; [Chakaravarthy14] for light rows first and for pulling
template <class Id>
class length_layout {
 public:
  /// Number of runs whose savings roughly equal the time to build the layout.
  static constexpr std::uint64_t break_even_runs = 4;

  /// Whether searches are faster in this order than in that of the graph.
  ///
  /// Work      a sample of edges
  [[nodiscard]] static bool suits(const graph::dist_csr<Id>& g);

  /// Work      O(n + m)
  /// Throws    contract_violation unless the graph has weights and lies on one rank, and its
  ///           offsets begin with 0
  length_layout(world& w, const graph::dist_csr<Id>& g);

  template <class Weight>
  [[nodiscard]] traverse::weighted_rows<Id, Weight> out(const graph::dist_csr<Id>& g) const {
    return rows<Weight>(g.out().offsets(), out_);
  }
  template <class Weight>
  [[nodiscard]] traverse::weighted_rows<Id, Weight> in(const graph::dist_csr<Id>& g) const {
    if (!g.directed()) return out<Weight>(g);
    return rows<Weight>(in_offsets_.span(), in_);
  }

 private:
  template <class Weight>
  using edge = graph::weighted_edge<Id, Weight>;
  template <class Weight>
  struct edge_array {
    hw::page_buffer<edge<Weight>> edges;
    traverse::weight_bins<Weight> bins{};
  };
  using any_edges = std::variant<edge_array<std::int32_t>, edge_array<double>>;

  template <class Weight>
  [[nodiscard]] traverse::weighted_rows<Id, Weight> rows(std::span<const std::uint64_t> offsets,
                                                         const any_edges& from) const {
    const auto& array = std::get<edge_array<Weight>>(from);
    return {0, offsets.data(), array.edges.data(), array.bins};
  }
  template <class Weight>
  void build(world& w, const graph::dist_csr<Id>& g);
  template <class Weight>
  void transpose(world& w, const graph::csr<Id>& out);
  template <class Weight>
  void put_rows(world& w, std::span<const std::uint64_t> offsets, const edge<Weight>* from,
                edge_array<Weight>& to);

  any_edges out_, in_;
  hw::page_buffer<std::uint64_t> in_offsets_;
};

extern template class length_layout<std::uint32_t>;
extern template class length_layout<std::uint64_t>;

}  // namespace cairn::algo
