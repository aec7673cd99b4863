// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/aggregation_queue.hpp>

#include <support/schedules.hpp>

namespace cairn {
namespace {

outgoing_block block_of(std::size_t bytes, std::size_t number = 0) {
  outgoing_block b{.items = buffer(bytes), .messages = number};
  b.items.set_size(bytes);
  return b;
}

enum class fault { none, forgets_entries, forgets_age, sends_young_blocks, begins_with_the_last };

// The queue with a fault.
class faulty_queue : public aggregation_queue {
 public:
  explicit faulty_queue(fault f) : fault_(f) {}
  [[nodiscard]] std::size_t due(limits most, std::uint64_t now_ns) const noexcept {
    if (fault_ == fault::forgets_entries) most.bytes += sizeof(bundle_entry);
    if (fault_ == fault::forgets_age) most.age_ns = ~std::uint64_t{0};
    if (fault_ == fault::sends_young_blocks) most.age_ns = 0;
    return aggregation_queue::due(most, now_ns);
  }
  [[nodiscard]] std::vector<outgoing_block> take(std::size_t n) {
    auto first = aggregation_queue::take(n);
    if (fault_ == fault::begins_with_the_last) std::ranges::reverse(first);
    return first;
  }

 private:
  fault fault_;
};

enum class ending { correct, too_large, too_late, too_early, out_of_order };

/// Plays one schedule: the seed decides the limits, the sizes of the blocks, and how much time
/// passes between them and the looks of a server, which takes whatever is due.
///
/// correct if blocks left in order, together no larger than a packet, none stayed old, and none
/// left young that still had room beside it.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  const aggregation_queue::limits most{.bytes = 1 + random.below(600),
                                       .age_ns = random.below(4) * random.below(100)};
  const auto largest = 1 + random.below(300), longest = 1 + random.below(60);
  faulty_queue queue(f);
  struct block {
    std::size_t bytes;
    std::uint64_t since_ns;
  };
  std::vector<block> all;
  std::size_t left = 0;
  std::uint64_t now = 0;
  const auto is_old = [&](std::size_t i) { return now - all[i].since_ns >= most.age_ns; };
  for (int turn = 0; turn < 60; ++turn) {
    now += random.below(longest);
    if (random.below(3) != 0) {
      const auto bytes = random.below(largest);
      queue.push(block_of(bytes, all.size()), now);
      all.push_back({sizeof(bundle_entry) + bytes, now});
      continue;
    }
    while (const auto n = queue.due(most, now)) {
      const bool old = is_old(left);
      std::size_t bytes = 0;
      for (const auto& b : queue.take(n)) {
        if (b.messages != left) return ending::out_of_order;
        bytes += all[left++].bytes;
      }
      if (n > 1 && bytes > most.bytes) return ending::too_large;
      const auto next = left < all.size() ? all[left].bytes : 0;
      if (!old && bytes < most.bytes && bytes + next <= most.bytes) return ending::too_early;
    }
    if (left < all.size() && is_old(left)) return ending::too_late;
  }
  return ending::correct;
}

std::uint64_t caught(fault f) {
  return support::num_caught(ending::correct, [f](std::uint64_t seed) { return play(seed, f); });
}
constexpr auto many = support::num_twin_schedules / 100;

TEST(AggregationQueue, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(AggregationQueueTwin, ThatForgetsTheEntriesIsCaught) {
  EXPECT_GT(caught(fault::forgets_entries), many);
}
TEST(AggregationQueueTwin, ThatForgetsAgesIsCaught) { EXPECT_GT(caught(fault::forgets_age), many); }
TEST(AggregationQueueTwin, ThatSendsWhatIsYoungIsCaught) {
  EXPECT_GT(caught(fault::sends_young_blocks), many);
}
TEST(AggregationQueueTwin, ThatBeginsWithTheLastIsCaught) {
  EXPECT_GT(caught(fault::begins_with_the_last), many);
}

TEST(AggregationQueue, LeavesWhenItIsFullOrOld) {
  constexpr auto entry = sizeof(bundle_entry);
  const aggregation_queue::limits most{.bytes = 2 * (entry + 64), .age_ns = 100};
  aggregation_queue q;
  EXPECT_EQ(q.due(most, 0), 0u);
  q.push(block_of(64), 0);
  EXPECT_EQ(q.due(most, 99), 0u);
  EXPECT_EQ(q.due(most, 100), 1u);
  q.push(block_of(64), 50);
  EXPECT_EQ(q.due(most, 50), 2u);
  q.push(block_of(64), 50);
  EXPECT_EQ(q.take(q.due(most, 50)).size(), 2u);
  EXPECT_EQ(q.due(most, 149), 0u);
  EXPECT_EQ(q.due(most, 150), 1u);
}

TEST(AggregationQueue, ABlockLargerThanAPacketLeavesAlone) {
  aggregation_queue q;
  q.push(block_of(1000), 0);
  q.push(block_of(8), 0);
  EXPECT_EQ(q.due({.bytes = 100, .age_ns = 100}, 0), 1u);
}

}  // namespace
}  // namespace cairn
