// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace cairn::algo {

/// Decides when sweeps in place correct the sum of all ranks. Sweeps that replace all ranks at once
/// keep the sum; a sweep in place changes it, by an amount that depends on the order of the
/// vertices, and later sweeps would restore it by only a quarter each, however fast the other
/// errors shrink.
///
/// Let y be the part of a rank that came by in-edges. In the solution
///
///   sum of y over all vertices = damping * sum of ranks over all vertices with out-edges,
///
/// and a rank is y + jump. So these two numbers are equal:
///
///   expected   damping * jump * number of vertices with out-edges
///   found      sum of y over all vertices - damping * sum of y over all vertices with out-edges,
///              which pagerank_pull adds up
///
/// After a sweep, the factor expected / found for all y makes them equal.
class rank_sum_correction {
 public:
  /// Whether the sum is compared after a sweep, counted from 1. Not after the first: on graphs
  /// without cycles later sweeps remove its error at once.
  [[nodiscard]] static constexpr bool due(int sweep) {
    return sweep == 3 || (sweep > 1 && (sweep & (sweep - 1)) == 0);
  }

  /// The factor for all y after a sweep; 1 for no correction.
  ///
  /// change   of all ranks in the sweep
  /// enough   the change at which sweeps end
  [[nodiscard]] double factor(double expected, double found, double change, double enough) {
    if (useless_ || !(found > 0)) return 1;
    const double error = std::abs(expected / found - 1);
    // In a graph of several components the sums of single components may be wrong.
    useless_ = error > corrected_ / 2;
    if (useless_ || error < std::max(change / 4, enough)) return 1;
    corrected_ = error;
    return expected / found;
  }

 private:
  bool useless_ = false;
  double corrected_ = HUGE_VAL;  ///< the error at the last correction
};

}  // namespace cairn::algo
