// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
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

#include <support/num_schedules.hpp>

namespace cairn::doubling {
namespace {

using support::num_schedules;
constexpr std::uint64_t num_twin_schedules = 25'000;  // the first of them

enum class ending { correct, wrong_value, early, stuck };

/// Plays one schedule of 1 to 40 ranks (small numbers more often) and 1 to 3 operations: the seed
/// decides who begins, sends or takes the result next and which of the packets in flight arrives.
/// Ranks run ahead as far as the machine lets them; in a part of the schedules one rank, or the
/// packets to it, move only when nothing else can.
template <class Machine>
ending play(std::uint64_t seed, auto make) {
  struct participant {
    Machine machine;
    int begun = 0, finished = 0;
  };
  struct flight {
    rank_t from, to;
    decltype(Machine::outgoing::packet) packet;
  };
  random64 dice(seed);
  const auto size =
      static_cast<rank_t>(1 + std::min({dice.below(40), dice.below(40), dice.below(80)}));
  const auto operations = static_cast<int>(1 + dice.below(3));
  const auto delivery = dice.below(size * 2u) + 1;  // chances of a delivery against a rank's turn
  const auto slow = static_cast<rank_t>(dice.below(size * 2u));  // half of the time: nobody
  const bool slow_rank = dice.below(2) == 0;

  std::vector<std::vector<std::string>> values;  // by operation and rank
  std::vector<std::string> expected;
  for (int i = 0; i < operations; ++i) {
    values.push_back(random_values(dice, size, i));
    expected.push_back(shape_of(values.back()));
  }
  std::vector<participant> ranks;
  for (rank_t r = 0; r < size; ++r) ranks.push_back({make(r, size)});
  std::vector<flight> flying;
  int idle_turns = 0;
  for (int finished = 0; finished < size * operations;) {
    const bool desperate = idle_turns > 40 * size;
    if (idle_turns > 80 * size) return ending::stuck;
    ++idle_turns;

    if (!flying.empty() && dice.below(size + delivery) < delivery) {
      const auto i = dice.below(flying.size());
      if (flying[i].to == slow && !slow_rank && !desperate) continue;
      std::swap(flying[i], flying.back());
      const auto f = std::move(flying.back());
      flying.pop_back();
      ranks[static_cast<std::size_t>(f.to)].machine.receive(f.from, f.packet);
      idle_turns = 0;
      continue;
    }
    const auto r = static_cast<rank_t>(dice.below(static_cast<std::uint64_t>(size)));
    if (r == slow && slow_rank && !desperate) continue;
    auto& rank = ranks[static_cast<std::size_t>(r)];
    if (rank.begun == rank.finished) {
      if (rank.begun == operations) continue;
      const auto operation = static_cast<std::size_t>(rank.begun++);
      rank.machine.begin(values[operation][static_cast<std::size_t>(r)]);
    } else if (auto out = rank.machine.next_send()) {
      flying.push_back({r, out->to, std::move(out->packet)});
    } else if (rank.machine.done()) {
      for (const auto& other : ranks) {
        if (other.begun < rank.begun) return ending::early;
      }
      if (rank.machine.take() != expected[static_cast<std::size_t>(rank.finished)]) {
        return ending::wrong_value;
      }
      ++rank.finished;
      ++finished;
    } else {
      continue;
    }
    idle_turns = 0;
  }
  return flying.empty() ? ending::correct : ending::stuck;
}

TEST(RecursiveDoubling, EveryScheduleCombinesInTheDocumentedShapeEverywhere) {
  const auto make = [](rank_t self, rank_t size) { return subject(self, size); };
  for (std::uint64_t seed = 0; seed < num_schedules; ++seed) {
    ASSERT_EQ(play<subject>(seed, make), ending::correct) << "seed " << seed;
  }
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

/// Of the first schedules above, those that end wrongly for the twin.
std::uint64_t caught(fault f) {
  const auto make = [f](rank_t self, rank_t size) { return twin(self, size, f); };
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 0; seed < num_twin_schedules; ++seed) {
    wrong += play<twin>(seed, make) != ending::correct;
  }
  ::testing::Test::RecordProperty("caught", std::to_string(wrong));
  return wrong;
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
}  // namespace cairn::doubling
