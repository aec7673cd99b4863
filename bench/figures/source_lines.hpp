// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::bench {

/// The lines of source files, without empty ones and comments.
///
/// files     below the root of the project's source
/// Throws    std::runtime_error if one cannot be read
[[nodiscard]] std::uint64_t source_lines(const std::vector<std::string>& files);

}  // namespace cairn::bench
