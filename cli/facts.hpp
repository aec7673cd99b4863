// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/algo/algorithm.hpp>

#include "cli/input.hpp"
#include "cli/report.hpp"

namespace cairn::cli {

/// Adds one option of an algorithm, with this help; its value is stored in `given`.
CLI::Option* add_algorithm_option(CLI::App& command, const algo::option_info& o,
                                  algo::option_values& given, std::string_view meaning);

[[nodiscard]] const graph::labels& labels_of(const graph::any_graph& g);

/// Throws    usage_error if the graph is directed and the algorithm needs an undirected one
void expect_directions(const algo::algorithm& a, const graph::any_graph& g,
                       const input_options& in);

/// The facts of a result as JSON; vertices are ids of the input.
[[nodiscard]] json facts_of(const algo::run_result& found, const graph::any_graph& g);

/// Adds a line for each fact. One that is also an option is shown as the option is given.
void say_facts(report& r, const algo::algorithm& a, const algo::run_result& found,
               const graph::any_graph& g);

/// Prints whether the result was verified, with the violation if any. Returns the exit status.
int conclude(const world& w, report& r, bool verified, const std::string& broken);

}  // namespace cairn::cli
