// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/activity/start_values.hpp>
#include <cairn/core/cluster_costs.hpp>

namespace cairn::cli {

/// The costs of mechanisms in a file that `cairn bench model` wrote.
///
/// Throws    input_error naming the file and what was expected
[[nodiscard]] activity::fitted_costs read_fitted_costs(const std::string& path);

/// The costs of a cluster in a file that `cairn bench sim` wrote; what is not named keeps its
/// default.
///
/// Throws    as read_fitted_costs
[[nodiscard]] cluster_costs read_cluster_costs(const std::string& path);

}  // namespace cairn::cli
