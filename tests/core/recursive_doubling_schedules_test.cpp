// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <core/operations_schedule.hpp>
#include <core/recursive_doubling_parts.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/recursive_doubling.hpp>

#include <support/schedules.hpp>

namespace cairn::recursive_doubling_schedules_test {
namespace {

using namespace recursive_doubling_parts;
using support::num_twin_schedules;

using ending = support::operations_ending;

/// Plays one schedule of 1 to 40 ranks (small numbers more often) and 1 to 3 operations.
template <class Machine>
ending play(std::uint64_t seed, auto make) {
  random64 random(seed);
  const auto size =
      static_cast<rank_t>(1 + std::min({random.below(40), random.below(40), random.below(80)}));
  std::vector<std::vector<std::string>> values(1 + random.below(3));  // by operation and rank
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random_values(random, size, static_cast<int>(i));
    expected.push_back(shape_of(values[i]));
  }
  return support::play_operations<Machine>(random, make, values, expected,
                                           [](Machine& m) { return m.take(); });
}

TEST(RecursiveDoubling, EveryScheduleCombinesInTheDocumentedShapeEverywhere) {
  const auto make = [](rank_t self, rank_t size) { return subject(self, size); };
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return play<subject>(seed, make); });
}

enum class fault {
  none,
  ignores_operation,
  ignores_round,
  combines_own_first,
  drops_early_packets
};

/// The same algorithm by the textbook, without a check, and perhaps with one fault.
class twin {
 public:
  struct letter {
    int operation, round;  // -1: folds in; num_rounds(): the result
    std::string value;
  };
  struct outgoing {
    rank_t to;
    letter packet;
  };

  twin(rank_t self, rank_t size, fault f)
      : self_(self),
        core_(static_cast<rank_t>(std::bit_floor(static_cast<unsigned>(size)))),
        size_(size),
        fault_(f) {}

  void begin(const std::string& mine) {
    ++operation_;
    running_ = true;
    sent_ = false;
    round_ = -1;
    held_ = mine;
    go_on();
  }
  std::optional<outgoing> next_send() {
    if (!running_ || sent_ || !sends()) return {};
    sent_ = true;
    outgoing out{peer(), {operation_, round_, held_}};
    go_on();
    return out;
  }
  void receive(rank_t, letter packet) {
    letters_.push_back(std::move(packet));
    go_on();
    if (fault_ == fault::drops_early_packets) letters_.clear();
  }
  bool done() const { return running_ && round_ > num_rounds(); }
  std::string take() {
    running_ = false;
    return held_;
  }

 private:
  int num_rounds() const { return std::bit_width(static_cast<unsigned>(core_)) - 1; }
  bool beyond() const { return self_ >= core_; }
  bool folded() const { return !beyond() && self_ + core_ < size_; }
  bool inside() const { return 0 <= round_ && round_ < num_rounds(); }
  rank_t peer() const { return inside() ? self_ ^ (1 << round_) : self_ ^ core_; }
  bool sends() const {
    if (round_ > num_rounds()) return false;
    if (inside()) return !beyond();
    return round_ < 0 ? beyond() : folded();
  }
  bool receives() const {
    if (inside()) return !beyond();
    return round_ < 0 ? folded() : beyond();
  }
  void go_on() {
    while (running_ && round_ <= num_rounds()) {
      if (sends() && !sent_) return;
      if (receives() && !take_in()) return;
      ++round_;
      sent_ = false;
    }
  }
  bool take_in() {
    const auto next = std::ranges::find_if(letters_, [this](const letter& l) {
      return (l.operation == operation_ || fault_ == fault::ignores_operation) &&
             (l.round == round_ || fault_ == fault::ignores_round);
    });
    if (next == letters_.end()) return false;
    if (beyond()) {
      held_ = next->value;
    } else if (self_ < peer() || fault_ == fault::combines_own_first) {
      held_ = '(' + held_ + next->value + ')';
    } else {
      held_ = '(' + next->value + held_ + ')';
    }
    letters_.erase(next);
    return true;
  }

  rank_t self_, core_, size_;
  fault fault_;
  int operation_ = 0, round_ = -1;
  bool running_ = false, sent_ = false;
  std::string held_;
  std::vector<letter> letters_;
};

std::uint64_t caught(fault f) {
  const auto make = [f](rank_t self, rank_t size) { return twin(self, size, f); };
  return support::num_caught(ending::correct,
                             [&](std::uint64_t seed) { return play<twin>(seed, make); });
}

TEST(RecursiveDoublingTwin, WithoutAFaultPassesTheSameSchedules) {
  EXPECT_EQ(caught(fault::none), 0u);
}
TEST(RecursiveDoublingTwin, ThatIgnoresTheOperationIsCaught) {
  EXPECT_GT(caught(fault::ignores_operation), num_twin_schedules / 100);
}
TEST(RecursiveDoublingTwin, ThatCombinesInArrivalOrderIsCaught) {
  EXPECT_GT(caught(fault::ignores_round), num_twin_schedules / 100);
}
TEST(RecursiveDoublingTwin, ThatCombinesItsOwnValueFirstIsCaught) {
  EXPECT_GT(caught(fault::combines_own_first), num_twin_schedules / 100);
}
TEST(RecursiveDoublingTwin, ThatDropsEarlyPacketsIsCaught) {
  EXPECT_GT(caught(fault::drops_early_packets), num_twin_schedules / 100);
}

}  // namespace
}  // namespace cairn::recursive_doubling_schedules_test
