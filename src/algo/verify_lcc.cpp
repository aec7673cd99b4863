// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <cairn/algo/lcc.hpp>

#include "algo/common_neighbors.hpp"
#include "algo/first_own.hpp"
#include "algo/first_sentence.hpp"

namespace cairn::algo {

template <class Id>
std::optional<std::string> verify_lcc(world& w, const graph::dist_csr<Id>& g,
                                      const pgas::vertex_map<double>& coefficient) {
  g.expect_in();
  constexpr double tolerance = 1e-9;
  const common_neighbor_counts<Id> counts(w, g, joined_by::edge_from_first);
  const auto is_wrong = [&](std::uint64_t v) {
    const auto edges = counts.of_vertex().load(v), d = counts.degree(v);
    const auto pairs = d * (d - 1);
    const auto expected =
        edges == 0 ? 0.0 : static_cast<double>(edges) / static_cast<double>(pairs);
    return !(std::abs(coefficient.load(v) - expected) <= tolerance * expected);
  };
  constexpr double ns_of_vertex = 200;  // a row is copied
  std::string wrong;
  const auto v = first_own(w, coefficient, is_wrong, ns_of_vertex);
  if (v != no_vertex<std::uint64_t>) {
    wrong = "vertex " + g.labels().text_of(v) + " has the coefficient " +
            std::to_string(coefficient.load(v)) + ", but " +
            std::to_string(counts.of_vertex().load(v)) + " edges among its " +
            std::to_string(counts.degree(v)) + " neighbors";
  }
  return first_sentence(w, wrong);
}

template std::optional<std::string> verify_lcc(world&, const graph::dist_csr<std::uint32_t>&,
                                               const pgas::vertex_map<double>&);
template std::optional<std::string> verify_lcc(world&, const graph::dist_csr<std::uint64_t>&,
                                               const pgas::vertex_map<double>&);

}  // namespace cairn::algo
