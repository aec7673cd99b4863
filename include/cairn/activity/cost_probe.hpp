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
  std::size_t vertices = std::size_t{1} << 15;  ///< size of the map; the default fits a core's
                                                ///< cache
  int rounds = 21;                              ///< passes per sample; a sample is their median
};

/// The measured cost of one mechanism on this machine.
struct mechanism_cost {
  activity::mechanism mechanism;
  std::vector<cost_sample> samples;  ///< one per size
  std::vector<double> spread_ns;     ///< of each sample: median absolute deviation
  cost_model model;
  std::string fault{};  ///< describes a wrong result; empty if each vertex was modified as often as
                        ///< expected
};

/// Measures activities that modify N vertices, for each mechanism that works on this machine.
/// Executors mark the vertices in an order drawn at random.
///
/// Under htm and stm an activity is a group of N operators of one vertex each. Under plain, locks
/// and one_lock it is one operator of N vertices. `atomics` makes each mark atomic, but not the
/// activity. A pass marks every vertex once, by activities of one size, in one span. Each round
/// runs one pass of every mechanism and size, so that a long disturbance of the machine affects all
/// of them. Without hardware transactions the result has no htm.
///
/// Throws    contract_violation unless the sizes ascend, from at least 1 to at most `vertices` and
///           max_grain, and there are at most 2^31 vertices; cancelled, between passes
/// Called by worker 0 outside epochs; uses that worker alone.
/// Source    [AAM15] section 5.3, figure 2
[[nodiscard]] std::vector<mechanism_cost> probe_costs(world& w,
                                                      const cost_probe_options& options = {});

/// The cost of one mechanism; nullptr if it was not measured.
[[nodiscard]] const mechanism_cost* cost_of(std::span<const mechanism_cost> all,
                                            mechanism m) noexcept;

/// The linear models that choices start from. For mechanisms that run operators in groups the line
/// is fitted to all sizes. For mechanisms that run operators one by one it is fitted to sizes of at
/// most 8, the usual size of an operator, because the cost of many locks is not linear.
[[nodiscard]] fitted_costs fitted(std::span<const mechanism_cost> all);

}  // namespace cairn::activity
