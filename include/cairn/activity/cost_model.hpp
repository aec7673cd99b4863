// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace cairn::activity {

/// The measured time of an activity that modifies so many vertices.
struct cost_sample {
  double vertices;
  double ns;
};

/// The time of an activity as a straight line in the vertices that it modifies: T = A N + B.
struct cost_model {
  double per_vertex = 0;  ///< A, ns
  double fixed = 0;       ///< B, ns: to start and end the activity
  double r_squared = 0;   ///< the share of the samples' variance that the line explains; 1: all

  [[nodiscard]] double at(double vertices) const noexcept { return per_vertex * vertices + fixed; }
};

/// The line of least squares through the samples, in any order.
///
/// Throws    contract_violation unless there are two different numbers of vertices
/// Source    [AAM15] section 5.3
[[nodiscard]] cost_model fit_cost(std::span<const cost_sample> samples);

/// The size, at least 1, from which on the coarse activity is the cheaper one by both models.
///
/// Returns   1 if it always is; nothing if large ones are not
[[nodiscard]] std::optional<double> predicted_crossing(const cost_model& fine,
                                                       const cost_model& coarse);

/// The same from the samples themselves, which are of equal sizes in ascending order: between
/// the last size at which the coarse one costs no less and the next, where straight lines through
/// these meet.
///
/// Returns   the least size if it always is cheaper; nothing if at the largest it is not
/// Throws    contract_violation unless the sizes are equal and ascend
[[nodiscard]] std::optional<double> measured_crossing(std::span<const cost_sample> fine,
                                                      std::span<const cost_sample> coarse);

}  // namespace cairn::activity
