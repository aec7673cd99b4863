// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

#include <support/num_schedules.hpp>

// Execution of pure state machines. A schedule is one run of a few machines in which a seed
// determines every order.
namespace cairn::support {

/// Removes and returns a random element.
template <class T>
T draw(random64& random, std::vector<T>& from) {
  std::swap(from[random.below(from.size())], from.back());
  auto drawn = std::move(from.back());
  from.pop_back();
  return drawn;
}

/// A number from min to max whose logarithm is uniform.
inline double log_uniform(random64& random, double min, double max) {
  return min * std::pow(max / min, random.uniform());
}

/// Runs ranks that exchange packets until ended(). The seed determines which rank takes a step, and
/// which of the packets in flight arrives. In some schedules one rank, or the packets to it, moves
/// only when nothing else can.
///
/// in_flight       the packets in flight; each has a member `to`
/// take_turn(r)    a step of rank r; returns whether it could take one
/// arrive(packet)  delivers a packet
/// Returns   whether ended() became true; false if no step was possible, or if the steps made no
///           progress
template <class Packet, class Ended, class TakeTurn, class Arrive>
[[nodiscard]] bool play_ranks(random64& random, rank_t size, std::vector<Packet>& in_flight,
                              Ended&& ended, TakeTurn&& take_turn, Arrive&& arrive) {
  const auto ranks = static_cast<std::uint64_t>(size);
  const auto delivery = 1 + random.below(2 * ranks);  // weight of an arrival against a rank's turn
  const auto slow = static_cast<rank_t>(random.below(2 * ranks));  // half of the time no rank
  const bool slow_rank = random.below(2) == 0;
  const auto patience = 4 * ranks, max_idle = 80 * ranks, max_turns = 20000 * ranks;
  std::uint64_t turns = 0;
  for (std::uint64_t idle_turns = 0; !ended(); ++idle_turns) {
    if (idle_turns > max_idle || ++turns > max_turns) return false;
    const bool spares_the_slow = idle_turns <= patience;
    if (!in_flight.empty() && random.below(ranks + delivery) < delivery) {
      auto& next = in_flight[random.below(in_flight.size())];
      if (next.to == slow && !slow_rank && spares_the_slow) continue;
      std::swap(next, in_flight.back());
      auto packet = std::move(in_flight.back());
      in_flight.pop_back();
      arrive(std::move(packet));
      idle_turns = 0;
    } else {
      const auto r = static_cast<rank_t>(random.below(ranks));
      if (r == slow && slow_rank && spares_the_slow) continue;
      if (take_turn(r)) idle_turns = 0;
    }
  }
  return true;
}

/// Expects that every schedule ends well: play(seed) == well. A long schedule is worth many short
/// ones.
template <class Ending, class Play>
void expect_every_schedule(Ending well, Play&& play, std::uint64_t schedules = num_schedules) {
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    ASSERT_EQ(play(seed), well) << "seed " << seed;
  }
}

/// The number of schedules that a broken twin plays; many of them catch it.
inline constexpr std::uint64_t num_twin_schedules =
    sanitized ? num_schedules / 4 : num_schedules / 10;
/// The number of schedules, among the first `schedules`, that do not end well.
template <class Ending, class Play>
[[nodiscard]] std::uint64_t num_caught(Ending well, Play&& play,
                                       std::uint64_t schedules = num_twin_schedules) {
  std::uint64_t caught = 0;
  for (std::uint64_t seed = 0; seed < schedules; ++seed) caught += play(seed) != well;
  ::testing::Test::RecordProperty("caught", std::to_string(caught));
  return caught;
}

}  // namespace cairn::support
