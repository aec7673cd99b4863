// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cairn {

/// As a shell says of a program that SIGINT ended.
inline constexpr int status_of_cancelled = 130;

/// How one rank ended.
struct ending {
  int status = 0;
  std::string sentence;      ///< for people, if it failed
  bool caused_here = false;  ///< it failed by itself, not because another rank had
};

/// The ending that the exception in flight means: status 2 for bad usage or input, 130 for
/// `cancelled`, else 1.
[[nodiscard]] ending ending_by_exception();

/// Runs f; what it throws becomes an ending.
template <class F>
[[nodiscard]] ending ending_of(F&& f) {
  try {
    f();
    return {};
  } catch (...) {
    return ending_by_exception();
  }
}

}  // namespace cairn
