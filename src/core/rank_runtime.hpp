// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <cairn/core/launch.hpp>
#include <cairn/core/settings.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/task/pool.hpp>

#include "core/ending.hpp"
#include "core/interrupt.hpp"

namespace cairn {

/// Where a rank stands among those of its machine.
struct place {
  int sharers = 1;   ///< ranks that may run on its cores
  int position = 0;  ///< among them
  machine_layout machines = {};
};

/// Calls the body, and returns its value once the bodies of all ranks have ended: nobody leaves
/// while another may still need it. A request to cancel that comes after all of them ended changes
/// nothing. Collective.
///
/// Throws    cancelled on all ranks if it ended the body of one; peer_failure; what the body throws
[[nodiscard]] int run_together(world& w, const rank_body& body);

/// What a rank computes with: its workers, its clock and its world.
class rank_runtime {
 public:
  /// Throws    system_failure if the workers cannot be started
  rank_runtime(net::transport& net, const settings& how, const place& here);

  /// Runs the body, interruptible; if it fails, sees to it that the others learn.
  [[nodiscard]] ending run(const rank_body& body, interrupt_handler& interrupts);

 private:
  std::unique_ptr<task::pool> workers_;
  hw::steady_clock clock_;
  world world_;
};

}  // namespace cairn
