// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace cairn::algo {

/// Decides when in-place sweeps correct the sum of all ranks. A Jacobi sweep preserves the sum. An
/// in-place sweep changes it, by an amount that depends on the order of the vertices. Later sweeps
/// reduce this error by only a quarter each, even if the other errors shrink faster.
///
/// Let y be the part of a rank that comes from in-edges; a rank is y + jump. In the solution
///
///   sum of y over all vertices = damping * sum of ranks over all vertices with out-edges,
///
/// so the following two numbers are equal:
///
///   expected   damping * jump * number of vertices with out-edges
///   found      sum of y over all vertices - damping * sum of y over all vertices with out-edges,
///              computed by pagerank_pull
///
/// After a sweep, multiplying all y by expected / found makes them equal.
class rank_sum_correction {
 public:
  /// Whether the sum is checked after a sweep, counted from 1. It is not checked after the first
  /// sweep, because on graphs without cycles later sweeps remove that error at once.
  [[nodiscard]] static constexpr bool due(int sweep) {
    return sweep == 3 || (sweep > 1 && (sweep & (sweep - 1)) == 0);
  }

  /// expected   see above
  /// found      see above
  /// change     total change of the ranks in the sweep
  /// tolerance  the total change at which the run stops
  struct sweep_sums {
    double expected, found, change, tolerance;
  };
  /// The factor for all y after a sweep; 1: no correction.
  [[nodiscard]] double factor(const sweep_sums& sums) {
    const auto& [expected, found, change, tolerance] = sums;
    if (ineffective_ || !(found > 0)) return 1;
    const double error = std::abs(expected / found - 1);
    // In a graph of several components the sums of the single components may be wrong.
    ineffective_ = error > corrected_ / 2;
    if (ineffective_ || error < std::max(change / 4, tolerance)) return 1;
    corrected_ = error;
    return expected / found;
  }

 private:
  bool ineffective_ = false;
  double corrected_ = HUGE_VAL;  ///< the error at the last correction
};

}  // namespace cairn::algo
