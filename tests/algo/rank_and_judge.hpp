// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/ref/pagerank.hpp>
#include <cairn/algo/verify_pagerank.hpp>

#include <support/dist_graph.hpp>
#include <support/pagerank_judging.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo {

/// Runs it once and has it judged: by the serial judge, which shares no code, and the verifier.
template <class Real, class Id>
pagerank_result<Real> rank_and_judge(
    world& w, const support::plain_graph& g, const pagerank_options& opt, const std::string& how,
    std::optional<typename pull_layout<Id>::kind> kind = std::nullopt) {
  SCOPED_TRACE(g.name + how);
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  std::optional<pull_layout<Id>> layout;
  if (kind) layout.emplace(w, share, *kind);
  auto result = pagerank<Real>(w, share, opt, layout ? &*layout : nullptr);
  EXPECT_EQ(verify_pagerank(w, share, result, opt), std::nullopt);
  std::vector<double> ranks;
  for (const Real x : w.all_gather_values<Real>(result.rank.local())) ranks.push_back(x);
  const auto judge = support::judge_of(g, opt);
  const auto limits = limits_of(opt, g.n);
  const double off = support::rounding<Real>(judge, ranks);
  if (!result.in_place) {
    const auto expected = judge.after(result.iterations);
    EXPECT_LE(ref::pagerank_judge::distance(ranks, expected), off);
    if (std::is_same_v<Real, double>) {
      for (std::size_t v = 0; v < ranks.size(); ++v) EXPECT_NEAR(ranks[v], expected[v], 1e-9);
      EXPECT_GE(result.iterations, judge.sweeps_until(limits.tolerance + off, limits.max_sweeps));
      EXPECT_LE(result.iterations, judge.sweeps_until(limits.tolerance - off, limits.max_sweeps));
    }
  }
  if (result.iterations != 0) {
    EXPECT_LE(ref::pagerank_judge::distance(ranks, judge.fixed_point()),
              result.change * opt.damping / (1 - opt.damping) + off);
  }
  const double sum = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  if (limits.spread_sinks && g.n != 0) {
    EXPECT_NEAR(sum, 1, off);
  }
  EXPECT_TRUE(result.iterations == limits.max_sweeps || result.change < limits.tolerance);
  EXPECT_EQ(result.aggregate.has_value(),
            opt.aggregate.has_value() && opt.variant != pagerank_variant::pull);
  return result;
}

}  // namespace cairn::algo
