// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/algo/algorithm.hpp>

#include "cli/input.hpp"
#include "cli/report.hpp"

namespace cairn::cli {

/// Adds one option of an algorithm; its text goes to `given`.
void add_algorithm_option(CLI::App& command, const algo::option_info& o,
                          algo::option_values& given);

[[nodiscard]] const graph::labels& labels_of(const graph::any_graph& g);

/// What was found as JSON; vertices by the ids of the input.
[[nodiscard]] json facts_of(const algo::finding& found, const graph::any_graph& g);

/// A line for each fact.
void say_facts(report& r, const algo::finding& found, const graph::any_graph& g);

/// The line that says whether a result was right, if it was verified. Prints, and returns the exit
/// status.
int conclude(const world& w, report& r, bool verified, const std::string& broken);

}  // namespace cairn::cli
