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

struct cdlp_options {
  activity::options activity = {};  ///< unused: each label has one writer
  std::uint64_t iterations = 10;    ///< at most; fewer if an iteration changes no label
};

template <class Id>
struct cdlp_result {
  pgas::vertex_map<Id> label;  ///< a vertex: its id is the label
  std::uint64_t iterations;    ///< number of iterations that ran
  std::uint64_t changed;       ///< labels that the last of them changed
  activity::ran ran;

  static constexpr auto fields() {
    using r = cdlp_result;
    return std::tuple(field{"label", &r::label, "the label of the vertex's community, an id", 0,
                            value_kind::vertices},
                      field{"iterations", &r::iterations, "number of iterations that ran"},
                      field{"changed", &r::changed, "labels that the last iteration changed"},
                      field{"ran", &r::ran, "no operators: each label has one writer"});
  }
};

/// Communities by label propagation (CDLP of LDBC Graphalytics).
///
/// The initial label of a vertex is its id in the input. In each iteration every vertex takes the
/// most frequent label of its neighbors in the previous iteration; of several such labels the
/// smallest id. A vertex without neighbors keeps its label. In a directed graph the ends of
/// in-edges and of out-edges are neighbors, so a neighbor joined by edges in both directions counts
/// twice. A duplicate edge counts again, and a self-loop counts the vertex's own label.
///
/// Every rank holds the labels of all vertices. Labels change only between iterations, so each
/// label has one writer and loops read constant labels.
///
/// Returns     labels at their owners; they do not depend on ranks, workers or the vertices' order
/// Work        per iteration O(n + m) expected
/// Depth       per iteration a loop and a gather
/// Messages    per iteration the changed labels (a vertex and a label) to every rank
/// Memory      per rank: a label for each vertex of the graph, twice the changed labels of all
///             ranks; per worker O(largest degree)
/// Throws      contract_violation unless g.has_in()
/// Collective  same options on every rank
/// Source      [Graphalytics], CDLP; [Raghavan07], made synchronous and deterministic
template <class Id>
[[nodiscard]] cdlp_result<Id> cdlp(world& w, const graph::dist_csr<Id>& g,
                                   const cdlp_options& opt = {});

/// One sentence if `label` does not contain the labels after this number of iterations. Computes
/// them again by messages along edges: a vertex receives a label from each neighbor and sorts them.
/// `label` may have any contents.
///
/// Returns     the same on every rank; of several violations that of the smallest vertex
/// Work        per iteration O(n + m log(largest degree))
/// Messages    per iteration one per edge and end
/// Memory      per rank: a label per edge and end
/// Throws      contract_violation unless g.has_in()
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_cdlp(world& w, const graph::dist_csr<Id>& g,
                                                     const pgas::vertex_map<Id>& label,
                                                     std::uint64_t iterations);

}  // namespace cairn::algo
