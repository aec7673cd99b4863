// SPDX-License-Identifier: Apache-2.0
#include "core/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>

#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

#include "core/seconds.hpp"

namespace cairn {

namespace {

using steady = std::chrono::steady_clock;

void watch(world& w, std::chrono::milliseconds limit, const launch_report& say,
           const std::stop_token& over) {
  // A stall is noticed late by at most a quarter of the limit.
  const auto interval = std::clamp<std::chrono::milliseconds>(
      limit / 4, std::chrono::milliseconds(1), std::chrono::seconds(1));
  auto& messages = w.messages();
  auto last = messages.steps();
  auto since = steady::now();
  bool reported = false;
  std::mutex guard;
  std::unique_lock held(guard);
  std::condition_variable_any ended;
  for (;;) {
    ended.wait_for(held, over, interval, [] { return false; });
    if (over.stop_requested()) return;
    const auto steps = messages.steps();
    if (steps != last) {
      last = steps;
      since = steady::now();
      reported = false;
    } else if (!reported && steady::now() - since >= limit) {
      reported = true;
      try {
        say("rank " + std::to_string(w.rank()) + ": no progress for " + seconds_text(limit) +
            " s (--watchdog): " + messages.snapshot().text());
      } catch (...) {  // no memory for a report: the run goes on
      }
    }
  }
}

}  // namespace

watchdog::watchdog(world& w, const settings& config, const launch_report& say) {
  if (config.watchdog_ms == 0) return;
  try {
    watcher_ = std::jthread([&w, &say, limit = std::chrono::milliseconds(config.watchdog_ms)](
                                const std::stop_token& over) { watch(w, limit, say, over); });
  } catch (const std::system_error& e) {
    throw system_failure("cannot start the thread for --watchdog: " + std::string(e.what()));
  }
}

}  // namespace cairn
