// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/aggregation_queue.hpp>

#include <support/schedules.hpp>

namespace cairn::aggregation_queue_test {
namespace {

outgoing_block block_of(std::size_t bytes, std::size_t number = 0) {
  outgoing_block b{.items = buffer(bytes), .messages = number};
  b.items.set_size(bytes);
  return b;
}

enum class fault { none, forgets_entries, forgets_age, sends_young_blocks, begins_with_the_last };

// The queue with a fault.
class faulty_queue {
 public:
  faulty_queue(fault f, aggregation_queue::limits most) : fault_(f), queue_(with(f, most)) {}
  void push(outgoing_block&& b, std::uint64_t now_ns) { queue_.push(std::move(b), now_ns); }
  [[nodiscard]] std::vector<outgoing_block> take(std::uint64_t now_ns) {
    auto blocks = queue_.take(now_ns);
    if (fault_ == fault::begins_with_the_last) std::ranges::reverse(blocks);
    return blocks;
  }

 private:
  static aggregation_queue::limits with(fault f, aggregation_queue::limits most) {
    if (f == fault::forgets_entries) most.bytes += sizeof(bundle_entry);
    if (f == fault::forgets_age) most.age_ns = ~std::uint64_t{0};
    if (f == fault::sends_young_blocks) most.age_ns = 0;
    return most;
  }
  fault fault_;
  aggregation_queue queue_;
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
  faulty_queue queue(f, most);
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
    for (auto due = queue.take(now); !due.empty(); due = queue.take(now)) {
      const bool old = is_old(left);
      std::size_t bytes = 0;
      for (const auto& b : due) {
        if (b.messages != left) return ending::out_of_order;
        bytes += all[left++].bytes;
      }
      if (due.size() > 1 && bytes > most.bytes) return ending::too_large;
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
  aggregation_queue q({.bytes = 2 * (entry + 64), .age_ns = 100});
  EXPECT_TRUE(q.take(0).empty());
  q.push(block_of(64), 0);
  EXPECT_TRUE(q.take(99).empty());
  EXPECT_EQ(q.take(100).size(), 1u);
  q.push(block_of(64), 50);
  q.push(block_of(64), 50);
  q.push(block_of(64), 60);
  EXPECT_EQ(q.take(60).size(), 2u);
  EXPECT_TRUE(q.take(159).empty());
  EXPECT_EQ(q.take(160).size(), 1u);
  EXPECT_TRUE(q.empty());
}

TEST(AggregationQueue, ABlockLargerThanAPacketLeavesAlone) {
  aggregation_queue q({.bytes = 100, .age_ns = 100});
  q.push(block_of(1000), 0);
  q.push(block_of(8), 0);
  EXPECT_EQ(q.take(0).size(), 1u);
}

}  // namespace
}  // namespace cairn::aggregation_queue_test
