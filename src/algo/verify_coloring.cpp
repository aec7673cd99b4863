// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <cairn/algo/coloring.hpp>
#include <cairn/traverse/edges.hpp>

namespace cairn::algo {
namespace {

// The sentence of the lowest rank that has one.
std::optional<std::string> first_of(world& w, const std::string& mine) {
  for (const auto& said : w.all_gather_bytes(std::as_bytes(std::span(mine)))) {
    if (said.empty()) continue;
    return std::string(reinterpret_cast<const char*>(said.data()), said.size());
  }
  return std::nullopt;
}

}  // namespace

template <class Id>
std::optional<std::string> verify_coloring(world& w, const graph::dist_csr<Id>& g,
                                           const pgas::vertex_map<std::uint32_t>& color) {
  const auto all = w.all_gather_values<std::uint32_t>(color.local());
  const auto most = w.max(traverse::edges_both_ways(g).max_degree());
  const auto id = [&](std::uint64_t v) { return g.labels().text_of(v); };
  std::string wrong;
  for (auto v = g.out().first(); v < g.out().last() && wrong.empty(); ++v) {
    if (all[v] > most) {
      wrong = "vertex " + id(v) + " has color " + std::to_string(all[v]) +
              ", expected at most the largest degree, " + std::to_string(most);
    }
    for (const Id u : g.out().neighbors(v)) {
      if (u == v || all[u] != all[v] || !wrong.empty()) continue;
      wrong = "vertices " + id(v) + " and " + id(u) + " are joined and both have color " +
              std::to_string(all[v]);
    }
  }
  return first_of(w, wrong);
}

template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint32_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);
template std::optional<std::string> verify_coloring(world&, const graph::dist_csr<std::uint64_t>&,
                                                    const pgas::vertex_map<std::uint32_t>&);

}  // namespace cairn::algo
