// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cairn {

/// How one rank ended.
struct rank_result {
  int status = 0;
  std::string sentence;      ///< for the user, if it failed
  bool caused_here = false;  ///< it failed by itself, not because of another rank
};

/// Converts the exception in flight to a rank_result: status 2 for bad usage or input, that of
/// the cause (stop_cause.hpp) for `cancelled`, else 1.
[[nodiscard]] rank_result result_by_exception();

/// Runs f; converts an exception to a rank_result.
template <class F>
[[nodiscard]] rank_result result_of(F&& f) {
  try {
    f();
    return {};
  } catch (...) {
    return result_by_exception();
  }
}

}  // namespace cairn
