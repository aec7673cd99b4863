// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cairn/activity/start_values.hpp>

namespace cairn::cli {

/// Path of a machine's fitted costs below a cache folder, by processor and Cairn version, because
/// costs differ between them.
[[nodiscard]] std::string saved_costs_path(const std::string& folder, std::string_view processor,
                                           std::string_view version);

/// Creates missing folders. Called before the costs are measured.
///
/// Throws    usage_error if the file cannot be written
void prepare_to_save(const std::string& path);

/// Writes the costs, creating missing folders. Replaces an existing file atomically.
///
/// Throws    usage_error or system_failure naming the file
void save_costs(const std::string& path, const activity::fitted_costs& costs);

/// The saved costs, if they are usable; `fault` says why not.
struct saved_costs {
  std::optional<activity::fitted_costs> costs;
  std::string fault;
};
[[nodiscard]] saved_costs read_saved_costs(const std::string& path);

}  // namespace cairn::cli
