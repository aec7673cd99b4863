// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>

#include <cairn/algo/verify_forest.hpp>
#include <cairn/algo/verify_mst.hpp>
#include <cairn/traverse/chunk.hpp>

#include "algo/spanning_forest.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

/// Calls take(worker, end, end, weight) for each row of this rank; without weights each is 0.
void each_row(world& w, const graph::io::raw_edges& rows, const auto& take) {
  constexpr double ns_of_row = 20;
  for (const auto& block : rows.blocks) {
    std::visit(
        [&](const auto& edges, const auto& weights) {
          w.parallel_for(
              edges.size(),
              [&](worker_t k, std::size_t begin, std::size_t end) {
                for (auto i = begin; i < end; ++i) {
                  double weight = 0;
                  if constexpr (requires { weights[i]; }) weight = static_cast<double>(weights[i]);
                  take(k, edges[i].source, edges[i].target, weight);
                }
              },
              traverse::chunk_of(w, edges.size(), ns_of_row));
        },
        block.edges, block.weights);
  }
}

/// The smallest weight of the edges from e.source, which this rank owns, to e.target.
template <class Id>
double lightest_weight(const graph::csr<Id>& rows, const mst_edge<Id>& e) {
  auto lightest = std::numeric_limits<double>::infinity();
  const auto row = rows.neighbors(e.source);
  const auto [begin, end] = std::ranges::equal_range(row, e.target);
  for (auto at = begin; at != end; ++at) {
    const auto i = static_cast<std::size_t>(at - row.begin());
    lightest = std::min(lightest, weight_at(rows, e.source, i));
  }
  return lightest;
}

}  // namespace

template <class Id>
std::optional<std::string> verify_forest(world& w, const graph::dist_csr<Id>& g,
                                         const graph::io::raw_edges& rows) {
  auto mine =
      sorted_at_owners<Id>(w, g.partition(), [&](const auto& take) { each_row(w, rows, take); });
  if (!rows.has_weights()) {
    constexpr double ns_of_edge = 200;  // a binary search
    w.parallel_for(
        mine.size(),
        [&](worker_t, std::size_t begin, std::size_t end) {
          for (auto i = begin; i < end; ++i) mine[i].weight = lightest_weight(g.out(), mine[i]);
        },
        traverse::chunk_of(w, mine.size(), ns_of_edge));
  }
  return verify_mst<Id>(w, g, mine);
}

template std::optional<std::string> verify_forest(world&, const graph::dist_csr<std::uint32_t>&,
                                                  const graph::io::raw_edges&);
template std::optional<std::string> verify_forest(world&, const graph::dist_csr<std::uint64_t>&,
                                                  const graph::io::raw_edges&);

}  // namespace cairn::algo
