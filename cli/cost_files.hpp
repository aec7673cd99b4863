// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/activity/start_values.hpp>
#include <cairn/core/cluster_costs.hpp>

namespace cairn::cli {

/// Reads the costs of mechanisms from a file written by `cairn bench model`.
///
/// Throws    input_error naming the file and, if it could be read, its expected contents
[[nodiscard]] activity::fitted_costs read_fitted_costs(const std::string& path);

/// Reads the costs of a cluster from a file written by `cairn bench sim`. Missing members keep
/// their defaults.
///
/// Throws    as read_fitted_costs
[[nodiscard]] cluster_costs read_cluster_costs(const std::string& path);

}  // namespace cairn::cli
