// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <cairn/algo/algorithm.hpp>

#include "cli/cli.hpp"

namespace cairn::cli {

/// Names of settings on the command line, and why runs do not use them.
using unused_reasons = std::map<std::string, std::string, std::less<>>;

/// The settings that runs of `a` with these options do not use: routing, if all messages go
/// directly to their destination; those of operators and their messages without operators; with
/// delivery to the owner those of groups, because owners do not form groups, and the delivery
/// itself if no operator can use it, if each rank has one worker, or if another mechanism is
/// requested. The same on every rank. Collective.
[[nodiscard]] unused_reasons unused_settings(const common& c, const algo::algorithm& a,
                                             const algo::option_values& given, world& w);

/// Throws    usage_error if there is one
void refuse_unused(const unused_reasons& settings);

}  // namespace cairn::cli
