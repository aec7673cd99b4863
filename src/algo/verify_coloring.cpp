// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <cairn/algo/coloring.hpp>
#include <cairn/traverse/edges.hpp>

#include "algo/first_sentence.hpp"

namespace cairn::algo {

template <class Id>
std::optional<std::string> verify_coloring(world& w, const graph::dist_csr<Id>& g,
                                           const pgas::vertex_map<std::uint32_t>& color) {
  const auto all = w.all_gather_values<std::uint32_t>(color.local());
  const auto max_degree = w.max(traverse::edges_both_ways(g).max_degree());
  const auto id = [&](std::uint64_t v) { return g.labels().text_of(v); };
  std::string wrong;
  for (auto v = g.out().first(); v < g.out().last() && wrong.empty(); ++v) {
    if (all[v] > max_degree) {
      wrong = "vertex " + id(v) + " has color " + std::to_string(all[v]) +
              ", expected at most the largest degree, " + std::to_string(max_degree);
    }
    for (const Id u : g.out().neighbors(v)) {
      if (u == v || all[u] != all[v] || !wrong.empty()) continue;
      wrong = "vertices " + id(v) + " and " + id(u) + " are joined and both have color " +
              std::to_string(all[v]);
    }
  }
  return first_sentence(w, wrong);
}

template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
