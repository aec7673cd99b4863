// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <cairn/core/delivery.hpp>
#include <cairn/core/receiver.hpp>

namespace cairn {

/// The channels of a world, by number. Numbers follow the order of construction, so ranks that
/// construct the same channels in the same order agree on them. No number is used twice.
///
/// Cost           O(log(live channels)) per look-up; destroyed channels cost nothing
/// Thread-safety  modified only while no other worker looks anything up
class registry {
 public:
  struct entry {
    std::uint32_t number;
    channel_kind kind;
    receiver* to;
    int worker = any_worker;     ///< that alone runs its handlers
    std::string_view name = {};  ///< for reports
  };
  enum class state { not_constructed, live, destroyed };

  /// name      exists as long as the channel
  [[nodiscard]] std::uint32_t add(receiver& r, channel_kind kind, int worker = any_worker,
                                  std::string_view name = {}) {
    live_.push_back({next_, kind, &r, worker, name});
    return next_++;
  }
  void remove(std::uint32_t number) {
    std::erase_if(live_, [number](const entry& e) { return e.number == number; });
  }

  /// Ascending by number.
  [[nodiscard]] std::span<const entry> live() const noexcept { return live_; }
  /// Null unless the channel is live.
  [[nodiscard]] receiver* find(std::uint32_t number) const noexcept {
    const auto* const at = look_up(number);
    return at ? at->to : nullptr;
  }
  /// The worker of a live channel, or any_worker.
  [[nodiscard]] int worker_of(std::uint32_t number) const noexcept {
    const auto* const at = look_up(number);
    return at ? at->worker : any_worker;
  }
  [[nodiscard]] state state_of(std::uint32_t number) const noexcept {
    return number >= next_ ? state::not_constructed : find(number) ? state::live : state::destroyed;
  }

  /// The number of the next channel.
  [[nodiscard]] std::uint32_t next() const noexcept { return next_; }
  /// Skips numbers after an abandoned epoch, when the ranks may have constructed different
  /// channels.
  void skip_to(std::uint32_t number) noexcept { next_ = number; }

 private:
  [[nodiscard]] const entry* look_up(std::uint32_t number) const noexcept;

  std::vector<entry> live_;
  std::uint32_t next_ = 0;
};

}  // namespace cairn
