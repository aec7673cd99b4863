// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <cairn/algo/coloring.hpp>
#include <cairn/traverse/edges.hpp>

#include "algo/first_own.hpp"
#include "algo/first_sentence.hpp"

namespace cairn::algo {

template <class Id>
std::optional<std::string> verify_coloring(world& w, const graph::dist_csr<Id>& g,
                                           const pgas::vertex_map<std::uint32_t>& color) {
  const auto all = w.all_gather_values<std::uint32_t>(color.local());
  const auto max_degree = w.max(traverse::edges_both_ways(g).max_degree(w));
  const auto id = [&](std::uint64_t v) { return g.labels().text_of(v); };
  const auto twin = [&](std::uint64_t v) {  // a neighbor with the same color
    const auto row = g.out().neighbors(v);
    const auto at = std::ranges::find_if(row, [&](Id u) { return u != v && all[u] == all[v]; });
    return at == row.end() ? no_vertex<Id> : *at;
  };
  const auto v = first_own(
      w, g.out(), [&](std::uint64_t x) { return all[x] > max_degree || twin(x) != no_vertex<Id>; },
      traverse::mean_ns_of_row(g.out()));
  std::string wrong;
  if (v != no_vertex<std::uint64_t> && all[v] > max_degree) {
    wrong = "vertex " + id(v) + " has color " + std::to_string(all[v]) +
            ", expected at most the largest degree, " + std::to_string(max_degree);
  } else if (v != no_vertex<std::uint64_t>) {
    wrong = "vertices " + id(v) + " and " + id(twin(v)) + " are joined and both have color " +
            std::to_string(all[v]);
  }
  return first_sentence(w, wrong);
}

template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
