// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/algo/coloring.hpp>
#include <cairn/algo/components.hpp>
#include <cairn/algo/lcc.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/format.hpp>
#include <cairn/pgas/accumulator_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/first_sentence.hpp"

// wrong_fact(w, g, result): one sentence if a number that a report shows beside the columns of a
// result does not follow from them. The columns have been verified before. O(n / P). Collective.

namespace cairn::algo {

/// A bound on the rounding error of a sum of n doubles in any order; 0 if it is exact.
///
/// absolute  the sum of the absolute values
/// whole     all of them are integers
[[nodiscard]] inline double rounding_of_sum(std::uint64_t n, double absolute, bool whole) {
  if (whole && absolute < 0x1p53) return 0;
  return static_cast<double>(n) * std::numeric_limits<double>::epsilon() * absolute;
}

/// Compares one number on all ranks.
[[nodiscard]] inline std::optional<std::string> differs(world& w, std::string_view name,
                                                        double found, double expected,
                                                        double rounding = 0) {
  if (std::abs(found - expected) <= rounding) return first_sentence(w, "");
  return first_sentence(w, "the result has " + std::string(name) + " " + format_number(found) +
                               ", expected " + format_number(expected));
}

/// The sum of term(v) over the own vertices, by all workers.
template <class T>
[[nodiscard]] T sum_over_own(world& w, const auto& vertices, auto&& term) {
  task::per_worker<T> parts(w.workers());
  traverse::for_each_own(w, vertices, [&](worker_t k, std::uint64_t v) { parts[k] += term(v); });
  T sum{};
  for (const auto& p : parts) sum += p.value;
  return sum;
}

template <class Id>
[[nodiscard]] std::optional<std::string> wrong_fact(world& w, const graph::dist_csr<Id>& g,
                                                    const components_result<Id>& r) {
  const auto roots = w.sum(sum_over_own<std::uint64_t>(
      w, r.label, [&](std::uint64_t v) { return r.label.load(v) == v ? 1u : 0u; }));
  pgas::accumulator_map<add<std::uint64_t>, Id> sizes(w, g.partition());
  {
    am::epoch epoch(w);
    traverse::for_own_ranges(w, r.label, [&](worker_t k, std::uint64_t v, std::uint64_t last) {
      sizes.accumulate(k, [&](auto&& enlarge) {
        for (; v < last; ++v) enlarge(r.label.load(v), 1);
      });
    });
    epoch.close();
  }
  task::per_worker<std::uint64_t> largest(w.workers());
  sizes.collect([&](worker_t k, std::uint64_t, std::span<const std::uint64_t> some) {
    for (const auto x : some) largest[k] = std::max(largest[k], x);
  });
  std::uint64_t all = 0;
  for (const auto& k : largest) all = std::max(all, k.value);
  all = w.max(all);
  auto wrong =
      differs(w, "components", static_cast<double>(r.num_components), static_cast<double>(roots));
  if (wrong) return wrong;
  return differs(w, "largest", static_cast<double>(r.largest), static_cast<double>(all));
}

template <class Id>
[[nodiscard]] std::optional<std::string> wrong_fact(world& w, const graph::dist_csr<Id>&,
                                                    const coloring_result& r) {
  task::per_worker<std::uint64_t> used(w.workers());
  traverse::for_each_own(w, r.color, [&](worker_t k, std::uint64_t v) {
    used[k] = std::max(used[k], std::uint64_t{r.color.load(v)} + 1);
  });
  std::uint64_t all = 0;
  for (const auto& k : used) all = std::max(all, k.value);
  return differs(w, "colors", static_cast<double>(r.num_colors), static_cast<double>(w.max(all)));
}

template <class Id>
[[nodiscard]] std::optional<std::string> wrong_fact(world& w, const graph::dist_csr<Id>& g,
                                                    const lcc_result& r) {
  const auto sum = w.sum(sum_over_own<double>(
      w, r.coefficient, [&](std::uint64_t v) { return r.coefficient.load(v); }));
  const auto n = g.num_vertices();
  const auto mean = n == 0 ? 0 : sum / static_cast<double>(n);
  return differs(w, "mean", r.mean, mean, 2 * rounding_of_sum(n, mean, false));
}

template <class Id>
[[nodiscard]] std::optional<std::string> wrong_fact(world& w, const graph::dist_csr<Id>& g,
                                                    const mst_result<Id>& r) {
  double weight = 0, absolute = 0;
  bool whole = true;
  for (const auto& e : r.edges) {
    weight += e.weight;
    absolute += std::abs(e.weight);
    whole = whole && e.weight == std::floor(e.weight);
  }
  weight = w.sum(weight), absolute = w.sum(absolute);
  const auto edges = w.sum(std::uint64_t{r.edges.size()});
  const auto rounding = rounding_of_sum(edges, absolute, !w.any(!whole));
  const auto count = [](std::uint64_t x) { return static_cast<double>(x); };
  if (auto wrong = differs(w, "edges", count(r.num_edges), count(edges))) return wrong;
  if (auto wrong = differs(w, "trees", count(r.num_trees), count(g.num_vertices() - edges))) {
    return wrong;
  }
  return differs(w, "weight", r.weight, weight, 2 * rounding);
}

}  // namespace cairn::algo
