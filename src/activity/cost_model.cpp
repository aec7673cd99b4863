// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include <cairn/activity/cost_model.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::activity {

cost_model fit_cost(std::span<const cost_sample> samples) {
  CAIRN_EXPECTS(!samples.empty());
  const auto count = static_cast<double>(samples.size());
  double mean_n = 0, mean_ns = 0;
  for (const auto& s : samples) {
    mean_n += s.vertices / count;
    mean_ns += s.ns / count;
  }
  double nn = 0, nt = 0, tt = 0;  // sums of products of deviations from the means
  for (const auto& s : samples) {
    const auto n = s.vertices - mean_n, t = s.ns - mean_ns;
    nn += n * n;
    nt += n * t;
    tt += t * t;
  }
  CAIRN_EXPECTS(nn > 0);
  cost_model line;
  line.per_vertex = nt / nn;
  line.fixed = mean_ns - line.per_vertex * mean_n;
  // If all times are equal, a flat line explains them fully.
  line.r_squared = tt > 0 ? nt * nt / (nn * tt) : 1;
  return line;
}

std::optional<double> predicted_crossing(const fine_and_coarse<cost_model>& models) {
  const auto& [fine, coarse] = models;
  const auto saved = fine.per_vertex - coarse.per_vertex;
  const auto paid = coarse.fixed - fine.fixed;
  if (saved > 0) return std::max(1.0, paid / saved);
  if (saved == 0 && paid < 0) return 1.0;
  return std::nullopt;
}

std::optional<double> measured_crossing(
    const fine_and_coarse<std::span<const cost_sample>>& samples) {
  const auto& [fine, coarse] = samples;
  CAIRN_EXPECTS(!fine.empty() && fine.size() == coarse.size());
  std::size_t first = fine.size();  // the first size at which the coarse one is and stays cheaper
  for (std::size_t i = 0; i < fine.size(); ++i) {
    CAIRN_EXPECTS(fine[i].vertices == coarse[i].vertices);
    CAIRN_EXPECTS(i == 0 || fine[i - 1].vertices < fine[i].vertices);
  }
  while (first > 0 && coarse[first - 1].ns < fine[first - 1].ns) --first;
  if (first == fine.size()) return std::nullopt;
  if (first == 0) return fine.front().vertices;
  const auto lost = coarse[first - 1].ns - fine[first - 1].ns;
  const auto won = fine[first].ns - coarse[first].ns;
  const auto from = fine[first - 1].vertices, to = fine[first].vertices;
  return from + (to - from) * lost / (lost + won);
}

}  // namespace cairn::activity
