// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cairn::hw {

/// Whether hardware transactions work here, and one sentence with the evidence.
struct tm_probe {
  bool works = false;
  std::string reason;
};

/// Runs transactions to find out, because the processor's flag is unreliable: microcode and
/// hypervisors disable RTM and leave the flag on. Never raises SIGILL. Takes well under a
/// millisecond: keep the result.
[[nodiscard]] tm_probe probe_transactions();

}  // namespace cairn::hw
