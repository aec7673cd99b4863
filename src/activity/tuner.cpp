// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <cairn/activity/tuner.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::activity {
namespace {

constexpr std::size_t up = 0, down = 1, first_other = 2;  // directions of a trial
constexpr double many_aborts = 0.25;                      // per group
// spans that may take twice their time, credited after each drift
constexpr double credited_spans = 3;
// bound on the loss of one span, as a multiple of its time by the old choice
constexpr double max_lost = 8;
constexpr double recent = 0.25;  // weight of the newest sample

void blend(double& mean, double x) noexcept { mean = mean == 0 ? x : mean + recent * (x - mean); }

double median(std::array<double, 16> values, std::size_t n) noexcept {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(n));
  return *middle;
}

}  // namespace

tuner::tuner(std::span<const candidate> candidates, const tuner_rules& rules) : rules_(rules) {
  CAIRN_EXPECTS(!candidates.empty() && candidates.size() <= max_candidates);
  CAIRN_EXPECTS(rules.pairs >= 1 && rules.pairs <= max_pairs && rules.wins <= rules.pairs);
  CAIRN_EXPECTS(rules.watch >= 1 && rules.share >= 0 && rules.drift >= 1);
  for (const auto& c : candidates) {
    CAIRN_EXPECTS(c.start.grain >= 1 && c.start.grain <= max_grain);
    grains_[num_candidates_] = c.start.grain;
    candidates_[num_candidates_++] = c;
  }
  now_ = {0, grains_[0]};
  wait_ = next_wait_ = rules_.first_wait;
  credit_ns_ = -rules_.first_cost;
}

tuner::step tuner::next() const noexcept {
  switch (state_) {
    case state::runs_old:
      return {choice_of(now_), affordable() || watches_left_ == 0};
    case state::runs_new:
      return {choice_of(tried_), true};
    case state::waits:
      break;
  }
  return {choice_of(now_), watches_left_ == 0};
}

void tuner::done(const span_work& ran) noexcept {
  const bool measured = next().measured;
  account(ran, measured ? static_cast<double>(ran.ns) : static_cast<double>(ran.operators) * cost_);
  if (state_ != state::runs_new) watches_left_ = (measured ? 1 : watches_left_) - 1;
  if (measured) {
    seen_.operators += ran.operators;
    seen_.ns += ran.ns;
    seen_.aborts += ran.aborts;
    if (seen_.operators >= rules_.min_operators) sampled(std::exchange(seen_, {}));
  }
  if (state_ == state::waits) {
    if (wait_ > 0) --wait_;
    if (wait_ == 0 && cost_ > 0) begin_round();
  }
}

void tuner::sampled(const span_work& seen) noexcept {
  if (seen.ns == 0) {  // the clock did not advance
    watches_left_ = rules_.watch;
    if (state_ != state::waits) end_trial(false);
    return;
  }
  const auto cost = static_cast<double>(seen.ns) / static_cast<double>(seen.operators);
  if (state_ == state::runs_new) return finish_pair(cost);
  const auto aborts = static_cast<double>(seen.aborts) / static_cast<double>(seen.operators);
  watches_left_ = rules_.watch;
  blend(cost_, cost);
  blend(aborts_, aborts);
  if (state_ == state::waits) {
    watch_for_drift(aborts);
  } else if (affordable()) {
    old_costs_[pairs_] = cost;
    state_ = state::runs_new;
  }
}

void tuner::move_to(std::size_t i) noexcept {
  CAIRN_ASSERT(i < num_candidates_);
  now_ = {i, grains_[i]};
  state_ = state::waits;
  wait_ = next_wait_ = rules_.first_wait;
  watches_left_ = 0;
  seen_ = {};
  lost_directions_ = 0;
  cost_ = aborts_ = known_cost_ = known_aborts_ = 0;
}

// Assumes that a span by the new choice takes twice the time.
bool tuner::affordable() const noexcept {
  return lost_ns_ + expected_operators_ * cost_ <= rules_.share * total_ns_ + credit_ns_;
}

void tuner::account(const span_work& ran, double ns) noexcept {
  const auto operators = static_cast<double>(ran.operators);
  total_ns_ += ns;
  if (state_ == state::runs_new) {
    const auto by_old = operators * old_costs_[pairs_];
    // a larger loss is a pause of the machine
    lost_ns_ += std::clamp(ns - by_old, 0.0, max_lost * by_old);
  }
  blend(expected_operators_, operators);
  expected_operators_ = std::max(expected_operators_, operators);
}

// Directions: twice the grain, half the grain, the other mechanisms.
bool tuner::look(std::size_t direction, position& found) const noexcept {
  if (direction >= first_other) {
    const auto other = (now_.candidate + direction - 1) % num_candidates_;
    found = {other, grains_[other]};
    return true;
  }
  if (!candidates_[now_.candidate].grain_is_free) return false;
  const bool longer = direction == up;
  if (longer ? now_.grain >= max_grain : now_.grain <= 1) return false;
  found = {now_.candidate, longer ? std::min(2 * now_.grain, max_grain) : now_.grain / 2};
  return true;
}

// From a mechanism without grains, the neighbors of this one's grain cannot be tried. The next
// trial of this mechanism therefore uses a quarter of its grain.
void tuner::look_elsewhere(std::size_t i) noexcept {
  if (!candidates_[i].grain_is_free) return;
  grains_[i] =
      grains_[i] >= 4 ? grains_[i] / 4 : std::min(4 * candidates_[i].start.grain, max_grain);
}

void tuner::begin_trial() noexcept {
  for (; lost_directions_ < num_directions(); ++lost_directions_) {
    if (look(direction_, tried_)) {
      state_ = state::runs_old;
      pairs_ = wins_ = losses_ = 0;
      seen_ = {};
      return;
    }
    direction_ = (direction_ + 1) % num_directions();
  }
  wait_ = next_wait_;  // every neighbor has lost: wait, twice as long as last time
  next_wait_ = std::min(std::max(2 * next_wait_, 1u), rules_.longest_wait);
  state_ = state::waits;
  remember();
}

void tuner::remember() noexcept {
  known_cost_ = cost_;
  known_aborts_ = aborts_;
}

// Where transactions abort, longer transactions are the most expensive trial.
void tuner::begin_round() noexcept {
  lost_directions_ = 0;
  direction_ = aborts_ * static_cast<double>(now_.grain) > many_aborts ? down : up;
  begin_trial();
}

void tuner::finish_pair(double cost) noexcept {
  const double old = old_costs_[pairs_];
  new_costs_[pairs_++] = cost;
  if (cost < old) {
    ++wins_;
  } else {
    losses_ += cost > 3 * old ? rules_.pairs : cost > 1.5 * old ? 2 : 1;
  }
  state_ = state::runs_old;
  if (losses_ > rules_.pairs - rules_.wins) return end_trial(false);
  if (pairs_ < rules_.pairs) return;
  const auto before = median(old_costs_, pairs_), after = median(new_costs_, pairs_);
  end_trial(wins_ >= rules_.wins && after <= (1 - rules_.gain) * before);
}

void tuner::end_trial(bool won) noexcept {
  ++trials_;
  last_tried_ = choice_of(tried_);
  if (won) {
    ++changes_;
    now_ = tried_;
    grains_[now_.candidate] = now_.grain;
    cost_ = median(new_costs_, pairs_);
    aborts_ = 0;
    lost_directions_ = 0;
    next_wait_ = rules_.first_wait;
    if (direction_ >= first_other)
      // continue with the grain; after a change of the grain, in the same direction
      direction_ = up;
  } else {
    if (direction_ >= first_other) look_elsewhere(tried_.candidate);
    ++lost_directions_;
    direction_ = (direction_ + 1) % num_directions();
  }
  begin_trial();
}

// One span may have been disturbed. Two in a row indicate a change.
void tuner::watch_for_drift(double aborts) noexcept {
  if (known_cost_ == 0) return;
  const auto far = [&](double a, double b) { return a > rules_.drift * b || b > rules_.drift * a; };
  const bool other = far(cost_, known_cost_) ||
                     (std::abs(aborts - known_aborts_) > 0.1 && far(aborts, known_aborts_));
  drifted_ = other ? drifted_ + 1 : 0;
  if (drifted_ < 2) return;
  drifted_ = 0;
  next_wait_ = rules_.first_wait;
  wait_ = std::min(wait_, 1u);
  credit_ns_ += credited_spans * expected_operators_ * cost_;
  remember();
}

void note_choice(obs::trace& t, worker_t k, std::string_view choice_name, const choice& made,
                 std::uint64_t trials) {
  if (!t.on()) [[likely]]
    return;
  auto text = std::string(choice_name) + " " + std::string(name(made.mechanism));
  t.note(k, obs::trace_kind::choice, text,
         {.count = static_cast<std::uint32_t>(made.grain),
          .number = static_cast<std::uint32_t>(trials)});
}

std::string trial_report(const tuner& t) {
  if (t.trials() == 0) return "";
  return "; tried " + std::to_string(t.trials()) + " other choices, of which " +
         std::to_string(t.changes()) + " took less time";
}

}  // namespace cairn::activity
