// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <cairn/hw/tm_probe.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn::hw {

/// What this machine offers, as `cairn machine` and every report tell it.
struct machine {
  hw::topology topology;
  int allowed_cores = 1;
  std::uint64_t page_bytes = 0;
  std::string huge_pages;  ///< "always", "madvise", "never", or empty: not to be found
  tm_probe transactions;
};

/// Looks at the machine. Costs milliseconds: keep the result.
/// Throws    system_failure if hwloc cannot start
[[nodiscard]] machine read_machine();

}  // namespace cairn::hw
