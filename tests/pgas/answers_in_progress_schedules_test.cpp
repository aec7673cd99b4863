// SPDX-License-Identifier: Apache-2.0
//
// Threads that answer questions about parts of arrays while the parts are dropped and made again,
// in schedules drawn from seeds, over memory as weak as C++ allows.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/pgas/array_table.hpp>

#include <support/schedules.hpp>
#include <support/stepper.hpp>

namespace cairn::pgas::answers_in_progress_schedules_test {
namespace {

using support::stepped;
using support::stepped_data;
using support::stepper;

enum class fault {
  none,
  looks_before_it_counts,
  ends_before_the_last_use,
  waits_before_it_hides,
  does_not_wait,
  shows_before_it_is_made
};
enum class ending { correct, used_while_freed, wrong_answer, stuck };

constexpr std::size_t num_threads = 3, num_parts = 2;
constexpr std::uint16_t num_generations = 3;
struct stalled {};

/// The threads of a rank. Threads 0 and 1 drop and make a part each; all threads answer. The parts
/// and the counts are the product's; the order of calls is that of array_traffic::answer_all() and
/// global_memory::port.
template <template <class> class Atomic>
class rank_of_threads {
 public:
  rank_of_threads(stepper& s, fault f) : stepper_(s), fault_(f) {}

  ending play(std::uint64_t seed) {
    ends_ = ending::correct;
    std::vector<std::function<void()>> bodies;
    for (std::size_t k = 0; k < num_threads; ++k) {
      bodies.emplace_back([this, seed, k] {
        try {
          run(random64(seed).stream(k + 1), k);
        } catch (const stalled&) {
          ends_ = ending::stuck;
        }
      });
    }
    const auto prepare = [this] {
      answers_.emplace(static_cast<int>(num_threads));
      for (auto& p : parts_) p.emplace();
    };
    stepper_.play(seed, prepare, bodies);
    return ends_;
  }

 private:
  // Threads answer beside each other, so what a part holds has a place for each. Its element is the
  // generation of its array.
  struct part {
    part_owner<Atomic> owner;
    std::array<stepped_data, num_threads> held;
    std::uint16_t element = 0;
    std::uint16_t last = 0;
  };
  using answering = typename answers_in_progress<Atomic>::answering;

  static array_id id(std::uint64_t generation) {
    return {0, 0, static_cast<std::uint16_t>(generation)};
  }

  void run(random64 draw, std::size_t k) {
    for (auto rounds = 1 + draw.below(4); rounds > 0; --rounds) {
      if (k < num_parts && draw.below(2) == 0) {
        change(*parts_[k], k);
      } else {
        answer(*parts_[draw.below(num_parts)], draw, k);
      }
    }
  }

  void answer(part& p, random64& draw, std::size_t k) {
    const auto asked = id(1 + draw.below(num_generations));
    std::optional<answering> now;
    if (fault_ != fault::looks_before_it_counts) now.emplace(*answers_, worker_t(k));
    if (!p.owner.belongs_to(asked)) return;
    if (fault_ == fault::looks_before_it_counts) now.emplace(*answers_, worker_t(k));
    for (auto uses = 1 + draw.below(2); uses > 0; --uses) {
      if (fault_ == fault::ends_before_the_last_use && uses == 1) now.reset();
      if (!p.held[k].touch()) ends_ = ending::used_while_freed;
      if (p.element != asked.generation) ends_ = ending::wrong_answer;
    }
  }

  void change(part& p, std::size_t k) {
    if (p.owner.generation.newest() == 0) return make(p);
    if (fault_ == fault::waits_before_it_hides) wait(k);
    p.owner.hide();
    if (fault_ != fault::waits_before_it_hides && fault_ != fault::does_not_wait) wait(k);
    use_alone(p, 0);
  }
  void make(part& p) {
    if (p.last == num_generations) return;
    const auto of = id(++p.last);
    if (fault_ == fault::shows_before_it_is_made) p.owner.show(of);
    use_alone(p, of.generation);
    p.owner.show(of);
  }
  void use_alone(part& p, std::uint16_t element) {
    for (auto& h : p.held) {
      if (!h.touch()) ends_ = ending::used_while_freed;
    }
    p.element = element;
  }
  void wait(std::size_t k) {
    answers_->wait_for_others(worker_t(k), [this](unsigned) {
      if (stepper_.stalled()) throw stalled();
    });
  }

  stepper& stepper_;
  fault fault_;
  std::optional<answers_in_progress<Atomic>> answers_;
  std::array<std::optional<part>, num_parts> parts_;
  ending ends_ = ending::correct;
};

TEST(AnswersInProgress, EverySchedule) {
  stepper steps(num_threads);
  rank_of_threads<stepped> rank(steps, fault::none);
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return rank.play(seed); });
}

template <template <class> class Atomic = stepped>
std::uint64_t caught(fault f) {
  stepper steps(num_threads);
  rank_of_threads<Atomic> rank(steps, f);
  return support::num_caught(ending::correct, [&](std::uint64_t seed) { return rank.play(seed); });
}
constexpr auto many = support::num_twin_schedules / 1000;

TEST(AnswersInProgressTwin, ThatLooksBeforeItCountsIsCaught) {
  EXPECT_GT(caught(fault::looks_before_it_counts), many);
}
TEST(AnswersInProgressTwin, ThatEndsBeforeTheLastUseIsCaught) {
  EXPECT_GT(caught(fault::ends_before_the_last_use), many);
}
TEST(AnswersInProgressTwin, ThatWaitsBeforeItHidesIsCaught) {
  EXPECT_GT(caught(fault::waits_before_it_hides), many);
}
TEST(AnswersInProgressTwin, ThatDoesNotWaitIsCaught) {
  EXPECT_GT(caught(fault::does_not_wait), many);
}
TEST(AnswersInProgressTwin, ThatShowsBeforeItIsMadeIsCaught) {
  EXPECT_GT(caught(fault::shows_before_it_is_made), many);
}
TEST(AnswersInProgressTwin, WhoseStoresAndLoadsHaveNoOrderIsCaught) {
  EXPECT_GT(caught<support::stepped_without_order>(fault::none), many);
}
TEST(AnswersInProgressTwin, WhoseEndDoesNotReleaseIsCaught) {
  EXPECT_GT(caught<support::stepped_without_release>(fault::none), many);
}

}  // namespace
}  // namespace cairn::pgas::answers_in_progress_schedules_test
