// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/activity/mechanism.hpp>

#include "cli/cli.hpp"

namespace cairn::cli {

/// The mechanism, grain, filter, retries and start values that the settings ask for.
///
/// Throws    usage_error or input_error
[[nodiscard]] activity::options activity_of(const common& c);

/// Where bench model --save keeps this machine's costs; empty: there is no cache folder.
[[nodiscard]] std::string saved_costs_file(const common& c);
/// The file of costs from which choices begin: the one that was asked for, else the saved one if it
/// can be used; empty: none.
[[nodiscard]] std::string costs_in_use(const common& c);
/// Reads the file that --sim clock=FILE names, if it names one.
///
/// Throws    usage_error or input_error
void read_costs_of_clock(common& c);
/// Says so if there are saved costs that cannot be used.
void warn_of_saved_costs(const common& c);

}  // namespace cairn::cli
