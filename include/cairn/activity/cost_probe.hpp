// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <cairn/activity/cost_model.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/start_values.hpp>
#include <cairn/core/world.hpp>

namespace cairn::activity {

struct cost_probe_options {
  std::vector<std::size_t> sizes{1, 2, 4, 8, 12, 16, 24, 32, 48, 64};  ///< N, ascending
  std::size_t vertices = std::size_t{1} << 15;  ///< to choose from: default fits a core's cache
  int rounds = 21;                              ///< samples are medians of so many passes
};

/// What one mechanism costs on this machine.
struct mechanism_cost {
  mechanism how;
  std::vector<cost_sample> samples;  ///< by size
  std::vector<double> spread_ns;     ///< of each sample: median absolute deviation
  cost_model model;
  std::string fault{};  ///< why a result was wrong; empty: each vertex was modified as often as due
};

/// Measures, for each mechanism that works here, activities that modify N vertices: executors mark
/// them one after another, in an order drawn at random.
///
/// Under htm and stm an activity is a group of N operators of one vertex; under plain, locks and
/// one_lock it is an operator of N vertices; `atomics` makes each mark atomic and not the activity.
/// A pass marks every vertex once, by activities of one size, in one span. Passes of the mechanisms
/// and sizes follow each other round by round, so that what disturbs the machine for long disturbs
/// all. Without hardware transactions there is no htm in the result.
///
/// Throws    contract_violation unless sizes ascend from 1 or more to at most `vertices` and
///           max_grain, and there are at most 2^31 vertices
/// Called by worker 0 outside epochs; uses that worker alone.
/// Source    [AAM15] section 5.3, figure 2
[[nodiscard]] std::vector<mechanism_cost> probe_costs(world& w,
                                                      const cost_probe_options& options = {});

/// The cost of one mechanism; nullptr if it does not work here.
[[nodiscard]] const mechanism_cost* cost_of(std::span<const mechanism_cost> all,
                                            mechanism how) noexcept;

/// The lines from which choices begin: through all sizes of mechanisms that run operators in
/// groups, and of those that run them one by one through sizes of at most 8, as operators have
/// them: what many locks cost is no straight line.
[[nodiscard]] fitted_costs fitted(std::span<const mechanism_cost> all);

}  // namespace cairn::activity
