// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <support/places.hpp>

namespace cairn::support {

/// The events of all ranks of a run on one object, and a clock that the ranks share.
///
/// Event   has began and ended
template <class Event>
class recording {
 public:
  [[nodiscard]] std::uint64_t now() noexcept { return time_.fetch_add(1); }
  /// Adds an event that ends now.
  void end(Event& e) {
    e.ended = now();
    const std::lock_guard held(guard_);
    events_.push_back(e);
  }
  [[nodiscard]] const std::vector<Event>& events() const noexcept { return events_; }

 private:
  std::atomic<std::uint64_t> time_{1};
  std::mutex guard_;  // held for an instant, not by tasks while they wait
  std::vector<Event> events_;
};

/// The number of histories, each of `num_events` events, that are not linearizable.
///
/// linearizable   linearizable(events)
template <class Event, class F>
[[nodiscard]] std::uint64_t num_impossible(const std::vector<recording<Event>>& histories,
                                           std::size_t num_events, F&& linearizable) {
  std::uint64_t impossible = 0;
  for (const auto& h : histories) {
    EXPECT_EQ(h.events().size(), num_events);
    impossible += !linearizable(h.events());
  }
  return impossible;
}

/// The number of seeds 1 .. `seeds` for which impossible(place, seed), on a simulated cluster of 3
/// ranks, is not 0: those that catch a broken twin.
template <class F>
[[nodiscard]] std::uint64_t num_caught(std::uint64_t seeds, F&& impossible) {
  constexpr place simulated{place::network::simulated, 3, 2};
  std::uint64_t caught = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) caught += impossible(simulated, seed) != 0;
  return caught;
}

}  // namespace cairn::support
