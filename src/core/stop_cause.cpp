// SPDX-License-Identifier: Apache-2.0
#include "core/stop_cause.hpp"

#include <signal.h>
#include <string.h>

#include "core/seconds.hpp"

namespace cairn {

int stop_cause::status() const noexcept {
  switch (kind_of_cause()) {
    case kind::time_limit:
      return 124;
    case kind::signal:
      return 128 + static_cast<int>(value());
    case kind::none:
    case kind::program:
      break;
  }
  return 128 + SIGINT;
}

std::string stop_cause::sentence() const {
  if (kind_of_cause() == kind::time_limit) {
    return "cancelled after " + seconds_text(std::chrono::milliseconds(value())) +
           " s, the limit set by --timeout";
  }
  if (kind_of_cause() != kind::signal) return "cancelled";
  const auto number = static_cast<int>(value());
  const char* const name = sigabbrev_np(number);
  return "cancelled by " +
         (name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(number));
}

}  // namespace cairn
