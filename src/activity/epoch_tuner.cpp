// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/epoch_tuner.hpp>

namespace cairn::activity {
namespace {

// An epoch is a long span, and epochs differ in size, so the rules require fewer spans.
constexpr tuner_rules rules_of_epochs{.share = 0.02,
                                      .gain = 0.1,
                                      .pairs = 3,
                                      .wins = 3,
                                      .first_wait = 2,
                                      .longest_wait = 64,
                                      .watch = 1,
                                      .min_operators = 64};

}  // namespace

epoch_tuner::epoch_tuner(int workers, std::span<const candidate> candidates)
    : tuner_(candidates, rules_of_epochs), tallies_(workers) {}

void epoch_tuner::count(worker_t k, std::uint64_t operators, const span_work& measured) noexcept {
  const auto add = [](std::atomic<std::uint64_t>& sum, std::uint64_t n) {
    sum.store(sum.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  };
  auto& mine = tallies_[k];
  add(mine.operators, operators);
  add(mine.measured, measured.operators);
  add(mine.ns, measured.ns);
  add(mine.aborts, measured.aborts);
}

void epoch_tuner::close(mechanism ran) noexcept {
  std::uint64_t operators = 0;
  span_work seen;
  const auto take = [](std::atomic<std::uint64_t>& sum) {
    return sum.exchange(0, std::memory_order_relaxed);
  };
  for (auto& t : tallies_) {
    operators += take(t.value.operators);
    seen.operators += take(t.value.measured);
    seen.ns += take(t.value.ns);
    seen.aborts += take(t.value.aborts);
  }
  // An epoch whose mechanism was chosen for another operator is no sample for this tuner's trial.
  if (operators == 0 || ran != next()) return;
  operators += untimed_;
  untimed_ = seen.operators == 0 ? operators : 0;
  if (untimed_ > 0) return;
  const auto all = static_cast<double>(operators) / static_cast<double>(seen.operators);
  const auto scaled = [all](std::uint64_t n) {
    return static_cast<std::uint64_t>(all * static_cast<double>(n));
  };
  tuner_.done({operators, scaled(seen.ns), scaled(seen.aborts)});
}

}  // namespace cairn::activity
