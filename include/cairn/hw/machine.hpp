// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <cairn/hw/tm_probe.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn::hw {

/// The properties of this machine that `cairn machine` and every report show.
struct machine {
  hw::topology topology;
  int allowed_cores = 1;
  std::uint64_t page_bytes = 0;
  std::string huge_pages;  ///< "always", "madvise", "never", or empty if unknown
  tm_probe transactions;
};

/// Inspects the machine. Takes milliseconds: keep the result.
/// Throws    system_failure if hwloc cannot start
[[nodiscard]] machine read_machine();

}  // namespace cairn::hw
