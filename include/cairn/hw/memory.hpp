// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cairn::hw {

/// Bytes that this process can still take: the least of what the system has available and what
/// the limits of the process's control groups (v2 or v1) leave, counting cached files as free.
/// 2^64 - 1 where nothing says.
///
/// root  put before /proc and /sys, for tests
[[nodiscard]] std::uint64_t available_memory(const std::string& root = "");

/// Bytes that this process and all others of its control groups can have together: the least of
/// what the system manages (MemTotal) and the groups' limits. 0 where nothing says.
///
/// root  as above
[[nodiscard]] std::uint64_t total_memory(const std::string& root = "");

}  // namespace cairn::hw
