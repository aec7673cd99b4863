// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace cairn::support {

/// The most memory that this process has used so far, in KiB.
[[nodiscard]] inline long peak_kib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

}  // namespace cairn::support
