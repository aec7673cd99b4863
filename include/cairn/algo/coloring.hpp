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
  std::uint64_t seed = 1;  ///< decides which end of a conflict gives its colour up
};

struct coloring_result {
  pgas::vertex_map<std::uint32_t> colour;  ///< from 0
  std::uint64_t num_colours;               ///< at most the largest degree + 1
  std::uint64_t rounds;                    ///< until no conflict was left
  std::uint64_t conflicts;                 ///< colours that were given up again
  activity::ran ran;

  static constexpr auto fields() {
    using r = coloring_result;
    return std::tuple(field{"colour", &r::colour, "from 0"},
                      field{"colours", &r::num_colours, "in use"},
                      field{"rounds", &r::rounds, "until no conflict was left"},
                      field{"conflicts", &r::conflicts, "colours that were given up again"},
                      field{"ran", &r::ran, "how conflicts were settled"});
  }
};

/// A proper colouring: no edge joins two vertices of one colour. Self-loops are ignored, and
/// the edges of a directed graph count both ways.
///
/// In rounds. First all workers of all ranks give each uncoloured vertex the least colour that
/// none of its neighbours seems to have. Then, for each edge whose ends both took the same
/// colour in this round, one end sends an activity to the other, which finds out whether they
/// still agree and draws which of them gives its colour up; if it is the spawner, the answer
/// tells it. Those are coloured again in the next round.
///
/// Returns    colours at their owners; which, depends on timing if there are several workers
/// Work       O(n + m), and O(m) again for the conflicts
/// Depth      rounds: few, because only vertices coloured at the same time can conflict
/// Messages   per round one gather of the new colours (8 bytes a vertex), two a conflict
/// Memory     per rank: the colours of all n vertices, and O(largest degree) per worker
/// Throws     contract_violation unless g.has_in()
/// Collective: same options on every rank.
/// Source     [AAM15] section 3.3.4 and listing 6 (after Boman et al.)
template <class Id>
[[nodiscard]] coloring_result coloring(world& w, const graph::dist_csr<Id>& g,
                                       const coloring_options& opt = {});

/// One sentence if `colour` is not a proper colouring with at most largest degree + 1 colours.
/// Collective.
template <class Id>
[[nodiscard]] std::optional<std::string> verify_coloring(
    world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<std::uint32_t>& colour);

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
