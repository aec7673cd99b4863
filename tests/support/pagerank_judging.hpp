// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
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

/// Bound on the accumulated error of rounding to Real.
template <class Real>
double rounding(const algo::ref::pagerank_judge& judge, const std::vector<double>& ranks) {
  return judge.rounding(ranks, double{std::numeric_limits<Real>::epsilon()});
}

}  // namespace cairn::support
