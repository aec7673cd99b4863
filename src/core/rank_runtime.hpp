// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <cairn/core/launch.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/settings.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/task/pool.hpp>

#include "core/interrupt.hpp"
#include "core/rank_result.hpp"

namespace cairn {

/// The position of a rank among the ranks of its machine.
struct rank_position {
  int sharers = 1;   ///< ranks that share its cores
  int position = 0;  ///< position among them
  machine_layout machines = {};
};

/// Calls the body; returns its value once the bodies of all ranks have ended, because other ranks
/// may need this one until then. A later request to cancel has no effect. Collective.
///
/// Throws    stopped on all ranks if `cancelled` ended the body of one; peer_failure; what the body
///           throws
[[nodiscard]] int run_together(world& w, const rank_body& body,
                               const interrupt_handler& interrupts);

/// The workers, the clock and the world of a rank.
class rank_runtime {
 public:
  /// Throws    system_failure if the workers cannot be started
  rank_runtime(net::transport& net, const settings& config, const rank_position& here);

  /// Runs the body, cancelled by `interrupts`; if it fails, informs the other ranks.
  ///
  /// say   gets the reports of the watchdog
  [[nodiscard]] rank_result run(const rank_body& body, interrupt_handler& interrupts,
                                const launch_report& say);

  /// Calls f, which uses the network without the world, once what the world has sent has left or,
  /// if it is poisoned, after 2 s. Threads beside the workers would call the network at the same
  /// time, and rest meanwhile.
  ///
  /// informs   this rank has failed by itself, so that the others wait for its poison
  /// Returns   false, without calling f, if it cannot inform them
  template <class F>
  [[nodiscard]] bool use_network(bool informs, F&& f) {
    if (!world_.messages().drain() && informs) return false;
    workers_->while_not_polling(std::forward<F>(f));
    return true;
  }

 private:
  void finish_sending();

  const settings config_;
  std::unique_ptr<task::pool> workers_;
  hw::steady_clock clock_;
  world world_;
};

}  // namespace cairn
