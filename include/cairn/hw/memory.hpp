// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cairn::hw {

/// Bytes that this process can still allocate: the minimum of what the system has available and
/// what the limits of the process's control groups (v2 or v1) leave. Cached files count as free.
/// 2^64 - 1 if unknown.
///
/// root  prefix of /proc and /sys, for tests
[[nodiscard]] std::uint64_t available_memory(const std::string& root = "");

/// Bytes of address space that this process can still map under its limit (RLIMIT_AS, `ulimit -v`).
/// 2^64 - 1 without a limit.
[[nodiscard]] std::uint64_t available_addresses();

/// Bytes that this process and all others of its control groups can use together: the minimum of
/// the system's memory (MemTotal) and the groups' limits. 0 if unknown.
///
/// root  as above
[[nodiscard]] std::uint64_t total_memory(const std::string& root = "");

}  // namespace cairn::hw
