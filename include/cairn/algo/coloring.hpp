// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

struct coloring_options {
  activity::options activity = {};
  std::uint64_t seed = 1;  ///< of the draws that resolve conflicts
};

struct coloring_result {
  pgas::vertex_map<std::uint32_t> color;  ///< from 0
  std::uint64_t num_colors;               ///< at most the largest degree + 1
  std::uint64_t rounds;                   ///< until no conflicts remain
  std::uint64_t conflicts;                ///< colors that were withdrawn
  activity::ran ran;

  static constexpr auto fields() {
    using r = coloring_result;
    return std::tuple(field{"color", &r::color, "from 0"},
                      field{"colors", &r::num_colors, "number of colors"},
                      field{"rounds", &r::rounds, "until no conflicts remained"},
                      field{"conflicts", &r::conflicts, "colors that were withdrawn"},
                      field{"ran", &r::ran, "mechanism of conflict resolution"});
  }
};

/// A proper coloring: the endpoints of an edge have different colors. Self-loops are ignored, and
/// the direction of edges too.
///
/// The algorithm works in rounds. First all workers of all ranks give each uncolored vertex the
/// smallest color that none of its neighbors appears to have; meanwhile ranks of several machines
/// gather the new colors up to 16 times. Then, for each edge whose endpoints took the same color in
/// this round, one endpoint sends an activity to the other. The activity checks whether the colors
/// are still equal and draws which endpoint loses its color; an answer informs the sender if it
/// loses. The losers are colored again in the next round. From the 33rd round on they take one of
/// 2, 4, 8, ... smallest colors at random.
///
/// Returns     colors at their owners; with several workers or ranks on a machine they depend on
///             timing
/// Work        O(n + m), and again O(degree) for each withdrawn color
/// Depth       only vertices colored at the same time can conflict: few rounds for sparse graphs on
///             few ranks. They grow with the ranks on dense graphs, where of the vertices that take
///             the same color one keeps it: 42 for 320 vertices, all adjacent, on 64 ranks
/// Messages    per round two per conflict; on several machines also 1 to 16 gathers of the new
///             colors (8 bytes per vertex, 16 with 64-bit ids)
/// Memory      the colors of all n vertices, on one machine once, else per rank; O(largest degree)
///             per worker
/// Throws      contract_violation unless g.has_in()
/// Collective  same options on every rank
/// Source      [AAM15] section 3.3.4 and listing 6, after [Boman05]
template <class Id>
[[nodiscard]] coloring_result coloring(world& w, const graph::dist_csr<Id>& g,
                                       const coloring_options& opt = {});

/// One sentence if `color` is not a proper coloring with at most largest degree + 1 colors.
///
/// color       any contents
/// Returns     the same on every rank; of several violations the first of the lowest rank
/// Work        O(n + m)
/// Messages    one gather of the colors (4 bytes per vertex)
/// Memory      per rank: the colors of all n vertices
/// Throws      contract_violation unless g.has_in()
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_coloring(
    world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<std::uint32_t>& color);

extern template coloring_result coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                         const coloring_options&);
extern template coloring_result coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                         const coloring_options&);
extern template std::optional<std::string> verify_coloring(world&,
                                                           const graph::dist_csr<std::uint32_t>&,
                                                           const pgas::vertex_map<std::uint32_t>&);
extern template std::optional<std::string> verify_coloring(world&,
                                                           const graph::dist_csr<std::uint64_t>&,
                                                           const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
