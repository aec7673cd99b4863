// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/traverse/weighted_rows.hpp>

namespace cairn::algo {

/// The edges of a graph on one rank, reordered for shortest paths: each weight is beside its
/// target, so that a short row is one cache line.
///
/// pairs     rows keep their order, in which targets may be close together
/// bins      rows are ordered by eight bins of weights, lightest first, so that a search within a
///           radius skips the end of a row. The layout of a directed graph includes its in-edges
/// Memory    an id and a weight per edge (twice for bins of a directed graph); for in-rows also
///           their offsets
/// Source    [DC15] for ordered work; Chakaravarthy et al., Scalable single source shortest path
///           algorithms for massively parallel systems (2014), for light rows first and for pulling
template <class Id>
class length_layout {
 public:
  enum class kind { pairs, bins };

  /// The best kind for the graph.
  [[nodiscard]] static kind kind_for(const graph::dist_csr<Id>& g);
  /// Number of runs whose savings roughly equal the time to build the layout.
  [[nodiscard]] static std::uint64_t break_even_runs(kind k) noexcept {
    return k == kind::bins ? 4 : 8;
  }

  /// Work      O(n + m)
  /// Throws    contract_violation unless the graph has weights and lies on one rank
  length_layout(world& w, const graph::dist_csr<Id>& g, kind k);

  [[nodiscard]] kind layout_kind() const noexcept { return kind_; }
  template <class Weight>
  [[nodiscard]] traverse::weighted_rows<Id, Weight> out(const graph::dist_csr<Id>& g) const {
    return rows<Weight>(g.out().offsets(), out_);
  }
  /// The in-edges, if rows are ordered by bins; else nothing.
  template <class Weight>
  [[nodiscard]] std::optional<traverse::weighted_rows<Id, Weight>> in(
      const graph::dist_csr<Id>& g) const {
    if (kind_ == kind::pairs) return std::nullopt;
    if (!g.directed()) return out<Weight>(g);
    return rows<Weight>(in_offsets_.span(), in_);
  }

 private:
  template <class Weight>
  struct edge_array {
    hw::page_buffer<traverse::weighted_edge<Id, Weight>> edges;
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
  void put_rows(world& w, std::span<const std::uint64_t> offsets, const Id* targets,
                const Weight* weights, edge_array<Weight>& to);

  kind kind_;
  any_edges out_, in_;
  hw::page_buffer<std::uint64_t> in_offsets_;
};

extern template class length_layout<std::uint32_t>;
extern template class length_layout<std::uint64_t>;

}  // namespace cairn::algo
