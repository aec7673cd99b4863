// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <variant>

#include <cairn/graph/dist_csr.hpp>

namespace cairn::graph {

/// Edges as the input writes them.
using text_edges = std::multiset<std::pair<std::string, std::string>>;

/// Those of this rank's rows.
inline text_edges text_edges_of(const any_graph& any) {
  text_edges found;
  std::visit(
      [&](const auto& g) {
        for (auto v = g.out().first(); v < g.out().last(); ++v) {
          for (const auto u : g.out().neighbors(v)) {
            found.emplace(g.labels().text_of(v), g.labels().text_of(u));
          }
        }
      },
      any);
  return found;
}

}  // namespace cairn::graph
