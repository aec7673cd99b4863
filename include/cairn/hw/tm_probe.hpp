// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cairn::hw {

/// Whether hardware transactions work here, and one sentence that says how we know.
struct tm_probe {
  bool works = false;
  std::string reason;
};

/// Finds out by running transactions, because the processor's flag is not to be trusted:
/// microcode and hypervisors switch RTM off and leave the flag on. Never raises SIGILL. Costs
/// well under a millisecond: keep the result.
[[nodiscard]] tm_probe probe_transactions();

}  // namespace cairn::hw
