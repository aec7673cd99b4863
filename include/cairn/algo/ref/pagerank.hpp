// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

// Judges share no code with what they judge: this file includes only the standard library and
// represents a graph as its list of edges, an undirected edge once in each direction.

namespace cairn::algo::ref {

/// PageRank by definition: serial Jacobi sweeps in double.
struct pagerank_judge {
  using edge_list = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< (source, target)

  std::uint64_t num_vertices;
  edge_list edges;
  double damping = 0.85;
  bool spread_sinks = false;  ///< the rank of vertices without out-edges is distributed over all
                              ///< vertices

  /// The ranks after one more sweep.
  [[nodiscard]] std::vector<double> sweep(const std::vector<double>& ranks) const {
    const auto n = static_cast<double>(num_vertices);
    std::vector<std::size_t> degree(num_vertices);
    for (const auto& [source, target] : edges) ++degree[source];
    std::vector<double> next(num_vertices, (1 - damping) / n);
    for (const auto& [source, target] : edges) {
      next[target] += damping * ranks[source] / static_cast<double>(degree[source]);
    }
    if (spread_sinks) {
      for (std::uint64_t v = 0; v < num_vertices; ++v) {
        if (degree[v] != 0) continue;
        for (auto& x : next) x += damping * ranks[v] / n;
      }
    }
    return next;
  }

  [[nodiscard]] std::vector<double> start() const {
    return std::vector<double>(num_vertices, 1 / static_cast<double>(num_vertices));
  }

  /// The ranks after `sweeps` sweeps from 1 / n.
  [[nodiscard]] std::vector<double> after(std::uint64_t sweeps) const {
    auto ranks = start();
    while (sweeps-- > 0) ranks = sweep(ranks);
    return ranks;
  }

  /// Number of sweeps until the total change is below `tolerance`, at most `max_sweeps`.
  [[nodiscard]] std::uint64_t sweeps_until(double tolerance, std::uint64_t max_sweeps) const {
    auto ranks = start();
    for (std::uint64_t done = 0; done < max_sweeps;) {
      auto next = sweep(ranks);
      ++done;
      if (distance(std::exchange(ranks, std::move(next)), ranks) < tolerance) return done;
    }
    return max_sweeps;
  }

  /// The fixed point of a sweep, to the precision of double.
  [[nodiscard]] std::vector<double> fixed_point() const {
    return after(damping == 0 ? 1 : static_cast<std::uint64_t>(-37 / std::log(damping)) + 1);
  }

  /// Bound on the accumulated rounding error with unit roundoff `unit`. Each sweep adds at most one
  /// unit in the last place per term of a sum and a few more, and later sweeps propagate it. The
  /// rank of all sinks is summed in double, once per vertex.
  [[nodiscard]] double rounding(const std::vector<double>& ranks, double unit) const {
    std::vector<double> terms(num_vertices, 8);
    for (const auto& [source, target] : edges) ++terms[target];
    constexpr auto unit_of_double = std::numeric_limits<double>::epsilon();
    const auto rows = std::inner_product(terms.begin(), terms.end(), ranks.begin(), 0.0);
    return (rows * (unit + unit_of_double) +
            2 * static_cast<double>(num_vertices) * unit_of_double) /
           (1 - damping);
  }

  /// Sum of absolute differences.
  [[nodiscard]] static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum;
  }
};

}  // namespace cairn::algo::ref
