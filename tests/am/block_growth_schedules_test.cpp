// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/am/block_growth.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::block_growth_schedules_test {
namespace {

enum class fault { none, doubles, never_grows, never_begins_again, knows_no_bound };

/// The growth with a fault.
class faulty_growth {
 public:
  explicit faulty_growth(fault f) : fault_(f) {}
  [[nodiscard]] std::size_t bytes(std::size_t step, std::size_t max) const {
    return growth_.bytes(step, fault_ == fault::knows_no_bound ? ~std::size_t{0} : max);
  }
  void left_full() {
    if (fault_ == fault::never_grows) return;
    const auto times = fault_ == fault::doubles ? growth_.bytes(1, 1 << 7) : 1;
    for (std::size_t i = 0; i < times; ++i) growth_.left_full();
  }
  void left_early() {
    if (fault_ != fault::never_begins_again) growth_.left_early();
  }

 private:
  const fault fault_;
  block_growth growth_;
};

/// What a block_growth makes small: the fixed costs of the buffers and the bytes that wait until
/// the largest block leaves.
double cost_of(double buffers, double largest, double step) { return buffers * step + largest; }

/// The least cost of a burst in blocks of one size, at most `max`.
double least_cost(double burst, double step, double max) {
  const auto fewest = std::ceil(burst / max), best = std::sqrt(burst / step);
  const auto with = [&](double n) {
    const auto buffers = std::max({n, fewest, 1.0});
    return cost_of(buffers, burst / buffers, step);
  };
  return std::min(with(std::floor(best)), with(std::ceil(best)));
}

enum class ending { correct, above_the_bound, dear_burst };

/// Plays one schedule: the seed decides what the transport's packets cost and their best size, and
/// the bytes of a few bursts. A block is found to be full by the first message that has no place in
/// it; the last block of a burst leaves early.
///
/// correct if no block is larger than the packet, and if each burst costs at most 1.5 times as much
/// as in blocks of the size that would have been best for it. A burst of little more than one step
/// costs so much.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  faulty_growth growth(f);
  const auto step = 64 + random.below(2048);
  const auto unit = static_cast<double>(step);
  const auto max = static_cast<std::size_t>(support::log_uniform(random, unit, 500 * unit));
  for (auto bursts = 1 + random.below(4); bursts-- > 0;) {
    const auto burst = static_cast<std::uint64_t>(support::log_uniform(random, 1, 4000 * unit));
    std::uint64_t buffers = 1, largest = 0;
    for (auto left = burst;; ++buffers) {
      const auto size = growth.bytes(step, max);
      if (size > max) return ending::above_the_bound;
      largest = std::max(largest, std::min(size, left));
      if (left <= size) break;
      growth.left_full();
      left -= size;
    }
    growth.left_early();
    const auto cost = cost_of(static_cast<double>(buffers), static_cast<double>(largest), unit);
    if (cost > 1.5 * least_cost(static_cast<double>(burst), unit, static_cast<double>(max))) {
      return ending::dear_burst;
    }
  }
  return ending::correct;
}

std::uint64_t caught(fault f) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); },
      support::num_twin_schedules / 5);
}
constexpr auto many = support::num_twin_schedules / 5 / 20;

TEST(BlockGrowth, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(BlockGrowthTwin, ThatDoublesIsCaught) { EXPECT_GT(caught(fault::doubles), many); }
TEST(BlockGrowthTwin, ThatNeverGrowsIsCaught) { EXPECT_GT(caught(fault::never_grows), many); }
TEST(BlockGrowthTwin, ThatNeverBeginsAgainIsCaught) {
  EXPECT_GT(caught(fault::never_begins_again), many);
}
TEST(BlockGrowthTwin, ThatKnowsNoBoundIsCaught) { EXPECT_GT(caught(fault::knows_no_bound), many); }

}  // namespace
}  // namespace cairn::am::block_growth_schedules_test
