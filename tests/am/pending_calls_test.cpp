// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/pending_calls.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::pending_calls_test {
namespace {

struct call {
  std::uint64_t number;
};

enum class fault { none, takes_old_answers, keeps_old_calls };

// The table with a fault.
class faulty_calls {
 public:
  explicit faulty_calls(fault f) : fault_(f) {}
  [[nodiscard]] std::uint64_t put(const call& c, std::uint32_t generation) {
    if (generation != generation_) held_.clear();
    generation_ = generation;
    const auto slot = calls_.put(c, fault_ == fault::keeps_old_calls ? 0 : generation);
    held_.insert(slot);
    return slot;
  }
  [[nodiscard]] std::optional<call> take(std::uint64_t slot, std::uint32_t of_answer,
                                         std::uint32_t generation) {
    if (fault_ == fault::takes_old_answers) {
      if (!held_.contains(slot)) return std::nullopt;  // nothing to take by mistake
      of_answer = generation = generation_;
    }
    if (fault_ == fault::keeps_old_calls && of_answer == generation) of_answer = generation = 0;
    held_.erase(slot);
    return calls_.take(slot, of_answer, generation);
  }
  [[nodiscard]] std::uint64_t size() const { return calls_.size(); }

 private:
  fault fault_;
  std::uint32_t generation_ = 0;
  std::set<std::uint64_t> held_;  // slots of the last generation
  pending_calls<call> calls_;
};

enum class ending { correct, answers_another, lost, grows };

/// Plays one schedule: the seed decides when a task calls, when the tasks are destroyed, and which
/// of the answers under way arrives next.
///
/// correct if each answer reached its call, those of destroyed tasks reached none, and the table
/// held only calls of the last generation that called.
ending play(std::uint64_t seed, fault f) {
  struct answer {
    std::uint64_t number, slot;
    std::uint32_t generation;
  };
  random64 random(seed);
  faulty_calls calls(f);
  std::vector<answer> under_way;
  std::uint32_t generation = 0;
  std::uint64_t live = 0;
  const auto destructions = 1 + random.below(4);  // in 64 turns
  std::uint64_t number = 0;
  while (number < 60 || !under_way.empty()) {
    const auto turn = random.below(64);
    if (turn < destructions) {
      ++generation;
      live = 0;
    } else if (number < 60 && turn % 2 == 0) {
      under_way.push_back({number, calls.put({number}, generation), generation});
      ++number;
      ++live;
    } else if (!under_way.empty()) {
      const auto a = support::draw(random, under_way);
      const auto taken = calls.take(a.slot, a.generation, generation);
      const bool is_live = a.generation == generation;
      if (taken && (!is_live || taken->number != a.number)) return ending::answers_another;
      if (!taken && is_live) return ending::lost;
      live -= is_live;
    }
    if (live > 0 && calls.size() != live) return ending::grows;
  }
  return ending::correct;
}

std::uint64_t caught(fault f) {
  return support::num_caught(ending::correct, [f](std::uint64_t seed) { return play(seed, f); });
}
constexpr auto many = support::num_twin_schedules / 100;

TEST(PendingCalls, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(PendingCallsTwin, ThatTakesAnswersOfDestroyedTasksIsCaught) {
  EXPECT_GT(caught(fault::takes_old_answers), many);
}
TEST(PendingCallsTwin, ThatKeepsCallsOfDestroyedTasksIsCaught) {
  EXPECT_GT(caught(fault::keeps_old_calls), many);
}

TEST(PendingCalls, RefusesAnAnswerWithoutACall) {
  pending_calls<call> calls;
  EXPECT_THROW(static_cast<void>(calls.take(0, 1, 1)), contract_violation);
}

}  // namespace
}  // namespace cairn::am::pending_calls_test
