// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

#include <cairn/core/launch.hpp>
#include <cairn/core/settings.hpp>
#include <cairn/core/world.hpp>

namespace cairn {

/// Reports what a rank has under way whenever it has made no progress (progress_snapshot::steps)
/// for settings::watchdog_ms: once per stall, from a thread of its own. The run goes on.
class watchdog {
 public:
  /// say   gets the report; called in the watchdog's thread
  /// Throws    system_failure if the thread cannot be started
  watchdog(world& w, const settings& config, const launch_report& say);

 private:
  std::jthread watcher_;
};

}  // namespace cairn
