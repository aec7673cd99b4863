// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace cairn::activity {

/// The measured time of an activity that modifies `vertices` vertices.
struct cost_sample {
  double vertices;
  double ns;
};

/// A linear model of an activity's time in the number N of vertices that it modifies: T = A N + B.
struct cost_model {
  double per_vertex = 0;  ///< A, ns
  double fixed = 0;       ///< B, ns: the cost of starting and ending the activity
  double r_squared = 0;   ///< coefficient of determination; 1: the line explains all variance of
                          ///< the samples

  [[nodiscard]] double at(double vertices) const noexcept { return per_vertex * vertices + fixed; }
};

/// The least-squares line through the samples, which may be in any order.
///
/// Throws    contract_violation if the samples have fewer than two different sizes
/// Source    [AAM15] section 5.3
[[nodiscard]] cost_model fit_cost(std::span<const cost_sample> samples);

/// What is known of fine activities, of one operator each, and of coarse ones.
template <class T>
struct fine_and_coarse {
  T fine, coarse;
};

/// The activity size, at least 1, above which the coarse activity is cheaper according to both
/// models.
///
/// Returns   1 if the coarse activity is always cheaper; nothing if it is not cheaper at large
///           sizes
[[nodiscard]] std::optional<double> predicted_crossing(const fine_and_coarse<cost_model>& models);

/// The crossing interpolated from the samples themselves. It lies between the last size at which
/// the coarse activity is not cheaper and the next size, where the straight lines through these
/// samples meet.
///
/// Samples   both spans have the same sizes, in ascending order
/// Returns   the smallest size if the coarse activity is always cheaper; nothing if it is not
///           cheaper at the largest size
/// Throws    contract_violation unless the sizes are equal and ascending
[[nodiscard]] std::optional<double> measured_crossing(
    const fine_and_coarse<std::span<const cost_sample>>& samples);

}  // namespace cairn::activity
