// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/activity/mechanism.hpp>

#include "cli/cli.hpp"

namespace cairn::cli {

/// The mechanism and grain with which operators start, by the measured costs in use.
///
/// Throws    usage_error or input_error
[[nodiscard]] activity::start_values start_of(const common& c);

/// The file in which bench model --save stores this machine's costs; empty: no cache folder.
[[nodiscard]] std::string saved_costs_file(const common& c);
/// The file with the initial costs: the one given by --costs, else the saved one if it is usable;
/// empty: none.
[[nodiscard]] std::string costs_in_use(const common& c);
/// Reads the file of --sim clock=FILE, if given.
///
/// Throws    usage_error or input_error
void read_costs_of_clock(common& c);
/// Prints a warning if the saved costs are not usable.
void warn_of_saved_costs(const common& c);

}  // namespace cairn::cli
