// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/am/hop_choice.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::hop_choice_schedules_test {
namespace {

enum class fault { none, never_tries_again, tries_at_once, believes_one_buffer, measures_nothing };

/// The choice with a fault.
class faulty_choice {
 public:
  explicit faulty_choice(fault f) : fault_(f) {}
  [[nodiscard]] bool through_hops(const hop_choice::unsent_blocks& l, std::size_t buffer_bytes) {
    const auto before = choice_;
    const bool pays = choice_.through_hops(l, buffer_bytes);
    if (!pays && fault_ == fault::never_tries_again) choice_ = before;
    if (!pays && fault_ == fault::tries_at_once) choice_ = {};
    return pays;
  }
  void forwarded(const hop_choice::forwarded_buffer& by_this_rank) {
    if (fault_ == fault::measures_nothing) return;
    const std::size_t times = fault_ == fault::believes_one_buffer ? 256 : 1;
    choice_.forwarded({times * by_this_rank.destinations, times * by_this_rank.opened});
  }

 private:
  const fault fault_;
  hop_choice choice_;
};

constexpr auto buffer_bytes = buffer_cost(64);

/// What it costs, in buffers, to send l through hops that send `opened` buffers for each joined
/// block (hop_choice.hpp). Directly it costs l.blocks.
double cost_through_hops(const hop_choice::unsent_blocks& l, double opened) {
  constexpr double delay = 4;
  return static_cast<double>(l.hops) + opened * static_cast<double>(l.blocks - l.hops) + delay +
         static_cast<double>(l.detour_bytes) / static_cast<double>(buffer_bytes);
}

enum class ending { correct, dear };

/// Plays one schedule: the seed decides the number of ranks, which are a square grid, and the bytes
/// for each. In each of a few phases it decides how many buffers hops send for a joined block, and
/// how many blocks leave at one moment. The ranks are alike: while this one uses hops, it forwards
/// as many messages for others.
///
/// correct if all costs at most a tenth more than if the phase's buffers per block were known, and
/// 150 buffers per phase, in which they are learned. Hops that hardly pay by the first estimate, or
/// do not, need not be tried.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  faulty_choice choice(f);
  const auto side = 3 + random.below(14);
  const auto most_hops = 2 * (side - 1), most_blocks = side * side - 1;
  const auto bytes = support::log_uniform(random, 8, 1024);
  double ours = 0, least = 0;
  for (auto phases = 1 + random.below(3); phases-- > 0; least += 150) {
    const auto opened = random.below(4) == 0 ? 1 : random.uniform();
    const auto fewest_blocks = 1 + random.below(most_blocks);
    for (auto rounds = 20 + random.below(150); rounds-- > 0;) {
      hop_choice::unsent_blocks l;
      l.blocks = fewest_blocks + random.below(most_blocks - fewest_blocks + 1);
      l.hops = std::min(l.blocks, most_hops);
      auto left = l.blocks - l.hops;
      l.detour_bytes = static_cast<std::size_t>(bytes * static_cast<double>(left));
      const auto direct = static_cast<double>(l.blocks);
      const auto through_hops = cost_through_hops(l, opened);
      const bool is_tried = cost_through_hops(l, 0.6) < direct;
      least += is_tried ? std::min(direct, through_hops) : direct;
      const bool pays = choice.through_hops(l, buffer_bytes);
      ours += pays ? through_hops : direct;
      while (pays && left > 0) {
        const auto n = 1 + random.below(std::min<std::uint64_t>(left, side));
        const auto of_them = opened * static_cast<double>(n) + random.uniform();
        choice.forwarded({.destinations = n, .opened = static_cast<std::size_t>(of_them)});
        left -= n;
      }
    }
  }
  return ours <= 1.1 * least ? ending::correct : ending::dear;
}

std::uint64_t caught(fault f, std::uint64_t schedules = support::num_twin_schedules / 5) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); }, schedules);
}
constexpr auto many = support::num_twin_schedules / 5 / 100;

// After the worst buffers the estimate returns too late in a few schedules.
TEST(HopChoice, EverySchedule) {
  EXPECT_LT(caught(fault::none, support::num_schedules), support::num_schedules / 2000);
}

TEST(HopChoiceTwin, ThatNeverTriesAgainIsCaught) {
  EXPECT_GT(caught(fault::never_tries_again), many);
}
TEST(HopChoiceTwin, ThatTriesAgainAtOnceIsCaught) { EXPECT_GT(caught(fault::tries_at_once), many); }
TEST(HopChoiceTwin, ThatBelievesOneBufferIsCaught) {
  EXPECT_GT(caught(fault::believes_one_buffer), many);
}
TEST(HopChoiceTwin, ThatMeasuresNothingIsCaught) {
  EXPECT_GT(caught(fault::measures_nothing), many);
}

}  // namespace
}  // namespace cairn::am::hop_choice_schedules_test
