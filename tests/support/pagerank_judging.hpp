// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/ref/pagerank.hpp>

#include <support/random_graphs.hpp>

namespace cairn::support {

inline algo::ref::pagerank_judge judge_of(const plain_graph& g, const algo::pagerank_options& opt) {
  algo::ref::pagerank_judge judge{g.n, {}, opt.damping, limits_of(opt, g.n).spread_sinks};
  const auto rows = g.neighbors();
  for (std::uint64_t u = 0; u < g.n; ++u) {
    for (const auto v : rows[u]) judge.edges.emplace_back(u, v);
  }
  return judge;
}

/// What rounding may have added up to: each sweep adds at most a unit in the last place for each
/// term of a sum and a few for the rest, and the next sweeps carry it on. The rank of all sinks
/// is summed in double, by the judge once for each vertex.
template <class Real>
double rounding(const algo::ref::pagerank_judge& judge, const std::vector<double>& ranks) {
  std::vector<double> terms(judge.num_vertices, 8);
  for (const auto& [source, target] : judge.edges) ++terms[target];
  constexpr double unit = std::numeric_limits<Real>::epsilon(),
                   unit_of_double = std::numeric_limits<double>::epsilon();
  const double in_rows = std::inner_product(terms.begin(), terms.end(), ranks.begin(), 0.0);
  return (in_rows * (unit + unit_of_double) +
          2 * static_cast<double>(judge.num_vertices) * unit_of_double) /
         (1 - judge.damping);
}

}  // namespace cairn::support
