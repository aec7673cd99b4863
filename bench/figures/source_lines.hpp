// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::bench {

/// The lines of source files, without empty ones and comments. Of a file that has comments
/// `lines: begin` and `lines: end`, only those between: a program of MPI also has a command line
/// and a report, which Cairn's algorithms leave to others.
///
/// files     relative to the root of the project's source, or absolute
/// Throws    std::runtime_error if one cannot be read
[[nodiscard]] std::uint64_t source_lines(const std::vector<std::string>& files);

}  // namespace cairn::bench
