// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

#include <support/schedules.hpp>

#include "algo/row_sum_choice.hpp"

namespace cairn::algo::row_sum_choice_schedules_test {
namespace {

enum class fault {
  none,
  believes_the_first,
  believes_interruptions,
  tries_each_once,
  always_tries
};

/// The choice with a fault.
class faulty_choice {
 public:
  faulty_choice(fault f, int workers) : fault_(f), choice_(workers, {}), stretches_(workers) {
    if (f != fault::believes_the_first) return;
    for (worker_t k{0}; k < workers; ++k) skip(k, row_sum_choice::period);
  }
  [[nodiscard]] row_sum next(worker_t k) {
    ++stretches_[k];
    if (fault_ == fault::always_tries && stretches_[k] % 4 == 0)
      skip(k, row_sum_choice::period - 4);
    return choice_.next(k);
  }
  void took(worker_t k, row_sum way, std::uint64_t terms, std::uint64_t ns) {
    if (fault_ == fault::tries_each_once && stretches_[k] > row_sum_choice::period) return;
    // Relative to so large a time, no stretch is slow.
    if (fault_ == fault::believes_interruptions) ns += 1'000'000 * terms;
    choice_.took(k, way, terms, ns);
  }
  [[nodiscard]] row_sum end() {
    choice_.end();
    return choice_.chosen();
  }

 private:
  void skip(worker_t k, std::uint64_t stretches) {
    for (; stretches > 0; --stretches) static_cast<void>(choice_.next(k));
  }

  const fault fault_;
  row_sum_choice choice_;
  task::per_worker<std::uint64_t> stretches_;
};

enum class ending { correct, slow_way, slow_sweep };

/// Plays one sweep: the seed decides the time that each way takes per term, how many stretches each
/// worker sums, how long these are, and which ones are interrupted. The first one of each worker
/// finds cold caches.
///
/// correct if the way for later sweeps takes at most 1.3 times the time of the fastest way, and the
/// first sweep at most 1.6 times. If two ways take three times as long as the fastest, a quarter
/// of the stretches costs that.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  const auto workers = static_cast<int>(1 + random.below(3));
  faulty_choice choice(f, workers);
  std::array<double, 3> ns_per_term{};
  for (auto& x : ns_per_term) x = support::log_uniform(random, 1, 3);
  const auto best = *std::ranges::min_element(ns_per_term);
  const auto time_of = [&](row_sum way) { return ns_per_term[static_cast<std::size_t>(way)]; };
  const auto stretches = static_cast<std::uint64_t>(support::log_uniform(random, 128, 256));
  const auto interrupted = 300 + random.below(700);  // one stretch in so many
  const auto spread = 0.2 * random.uniform();
  double ours = 0, least = 0;
  for (worker_t k{0}; k < workers; ++k) {
    for (std::uint64_t i = 0; i < stretches; ++i) {
      const auto way = choice.next(k);
      const auto terms = row_sum_choice::stretch + random.below(8 * row_sum_choice::stretch);
      const auto n = static_cast<double>(terms);
      ours += n * time_of(way);
      least += n * best;
      const auto ns = n * time_of(way) * (1 + spread * random.uniform()) * (i == 0 ? 20 : 1);
      const auto pause = random.below(interrupted) == 0 ? 4e6 : 0;
      choice.took(k, way, terms, static_cast<std::uint64_t>(ns + pause));
    }
  }
  if (time_of(choice.end()) > 1.3 * best) return ending::slow_way;
  return ours > 1.6 * least ? ending::slow_sweep : ending::correct;
}

std::uint64_t caught(fault f, std::uint64_t schedules = support::num_twin_schedules / 5) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); }, schedules);
}
constexpr auto many = support::num_twin_schedules / 5 / 100;

// A long schedule is worth many short ones. In a few, several stretches of the fastest way are
// interrupted.
TEST(RowSumChoice, EverySchedule) {
  EXPECT_LT(caught(fault::none, support::num_twin_schedules), support::num_twin_schedules / 1000);
}

TEST(RowSumChoiceTwin, ThatBelievesTheFirstStretchesIsCaught) {
  EXPECT_GT(caught(fault::believes_the_first), many);
}
TEST(RowSumChoiceTwin, ThatBelievesInterruptionsIsCaught) {
  EXPECT_GT(caught(fault::believes_interruptions), many);
}
TEST(RowSumChoiceTwin, ThatTriesEachWayOnceIsCaught) {
  EXPECT_GT(caught(fault::tries_each_once), many);
}
TEST(RowSumChoiceTwin, ThatAlwaysTriesIsCaught) { EXPECT_GT(caught(fault::always_tries), many); }

}  // namespace
}  // namespace cairn::algo::row_sum_choice_schedules_test
