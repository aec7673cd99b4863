// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/future_state.hpp>

#include <support/schedules.hpp>

namespace cairn::task::future_state_test {
namespace {

enum class fault { none, ends_in_two_steps, waits_in_two_steps, drops_in_two_steps };

/// The state; with a fault, a function looks at the word in a step before the one that writes it.
class machine {
 public:
  explicit machine(fault f) : fault_(f) {}
  [[nodiscard]] bool ended() const { return future_state(word_).ended(); }
  void look_before(fault f) {
    if (f == fault_) seen_ = word_.load();
  }
  [[nodiscard]] future_state::after_end end() { return state_in(fault::ends_in_two_steps).end(); }
  [[nodiscard]] bool wait(promise_base& t) { return state_in(fault::waits_in_two_steps).wait(t); }
  [[nodiscard]] bool drop() { return state_in(fault::drops_in_two_steps).drop(); }

 private:
  // With that fault what was written since is not seen.
  future_state state_in(fault f) {
    if (f == fault_) word_ = seen_;
    return future_state(word_);
  }
  fault fault_;
  mutable std::atomic<promise_base*> word_{nullptr};
  promise_base* seen_ = nullptr;
};

enum class ending { correct, stuck, early, leaked, used_after_destruction };

/// Plays one schedule of a spawned task that ends, and of a task that drops its future, or awaits
/// it and drops it then. A step is one access to the word, or what follows from it.
///
/// correct if the task that waits resumes once the other has ended, and the frame is destroyed
/// once, after the last access to it.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  machine shared(f);
  promise_base waiting;
  const bool awaits = random.below(4) != 0;
  const auto eager = 1 + random.below(15);  // in so many of 16 turns the spawned task moves
  enum class spawned { runs, looked, over } task = spawned::runs;
  enum class holder {
    begins,
    looks,
    waits,
    suspended,
    resumed,
    drops,
    over
  } other = holder::begins;
  int destroyed = 0;
  bool has_ended = false;
  const auto move_task = [&] {
    if (task == spawned::runs) {
      shared.look_before(fault::ends_in_two_steps);
      task = spawned::looked;
    } else {
      has_ended = true;
      const auto then = shared.end();
      if (then.resumes == &waiting) other = holder::resumed;
      destroyed += then.destroys;
      task = spawned::over;
    }
  };
  const auto move_holder = [&]() -> bool {  // whether the future may go on too early
    switch (other) {
      case holder::begins:
        other = !awaits || shared.ended() ? holder::resumed : holder::looks;
        break;
      case holder::looks:
        shared.look_before(fault::waits_in_two_steps);
        other = holder::waits;
        break;
      case holder::waits:
        other = shared.wait(waiting) ? holder::suspended : holder::resumed;
        break;
      case holder::resumed:
        if (awaits && !has_ended) return false;
        shared.look_before(fault::drops_in_two_steps);
        other = holder::drops;
        break;
      default:
        destroyed += shared.drop();
        other = holder::over;
    }
    return true;
  };
  while (task != spawned::over || other != holder::over) {
    const bool task_moves = task != spawned::over;
    const bool holder_moves = other != holder::over && other != holder::suspended;
    if (!task_moves && !holder_moves) return ending::stuck;
    if (destroyed != 0) return ending::used_after_destruction;
    if (task_moves && (!holder_moves || random.below(16) < eager)) {
      move_task();
    } else if (!move_holder()) {
      return ending::early;
    }
  }
  return destroyed == 1 ? ending::correct : ending::leaked;
}

std::uint64_t caught(fault f) {
  return support::num_caught(ending::correct, [f](std::uint64_t seed) { return play(seed, f); });
}
constexpr auto many = support::num_twin_schedules / 100;

TEST(FutureState, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(FutureStateTwin, ThatEndsInTwoStepsIsCaught) {
  EXPECT_GT(caught(fault::ends_in_two_steps), many);
}
TEST(FutureStateTwin, ThatWaitsInTwoStepsIsCaught) {
  EXPECT_GT(caught(fault::waits_in_two_steps), many);
}
TEST(FutureStateTwin, ThatDropsInTwoStepsIsCaught) {
  EXPECT_GT(caught(fault::drops_in_two_steps), many);
}

TEST(FutureState, ASecondTaskThatAwaitsIsRefused) {
  std::atomic<promise_base*> word{nullptr};
  promise_base first, second;
  EXPECT_TRUE(future_state(word).wait(first));
  EXPECT_THROW(static_cast<void>(future_state(word).wait(second)), contract_violation);
}

}  // namespace
}  // namespace cairn::task::future_state_test
