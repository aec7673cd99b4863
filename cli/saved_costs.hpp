// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <cairn/activity/start_values.hpp>

namespace cairn::cli {

/// Where a machine's fitted costs lie below a cache folder: by the processor and by Cairn's
/// version, because costs of another are not these.
[[nodiscard]] std::string saved_costs_path(const std::string& folder, std::string_view processor,
                                           std::string_view version);

/// Writes them, with the folders that are missing, beside the old ones and in their place at once.
///
/// Throws    system_failure naming the file
void save_costs(const std::string& path, const activity::fitted_costs& costs);

/// What is saved there, if anything that can be used; `fault` says why something cannot.
struct saved_costs {
  std::optional<activity::fitted_costs> costs;
  std::string fault;
};
[[nodiscard]] saved_costs read_saved_costs(const std::string& path);

}  // namespace cairn::cli
