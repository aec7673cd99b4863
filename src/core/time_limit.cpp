// SPDX-License-Identifier: Apache-2.0
#include "core/time_limit.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <cairn/base/error.hpp>

namespace cairn {

std::optional<time_limit> time_limit::from_now(const settings& config) {
  if (config.timeout_ms == 0) return std::nullopt;
  const std::chrono::milliseconds length(config.timeout_ms);
  return time_limit{std::chrono::steady_clock::now() + length, length};
}

timed_stop::timed_stop(interrupt_handler& worlds, const std::optional<time_limit>& limit,
                       std::function<void(stop_cause)> give_up) {
  if (!limit) return;
  try {
    timer_ = std::jthread(
        [&worlds, limit = *limit, give_up = std::move(give_up)](const std::stop_token& over) {
          std::mutex guard;
          std::unique_lock held(guard);
          std::condition_variable_any ended;
          ended.wait_until(held, over, limit.end, [] { return false; });
          if (over.stop_requested()) return;
          const auto cause = stop_cause::time_limit(limit.length);
          worlds.stop(cause);
          if (!give_up) return;
          ended.wait_until(held, over, limit.end + patience, [] { return false; });
          if (!over.stop_requested()) give_up(cause);
        });
  } catch (const std::system_error& e) {
    throw system_failure("cannot start the thread for --timeout: " + std::string(e.what()));
  }
}

}  // namespace cairn
