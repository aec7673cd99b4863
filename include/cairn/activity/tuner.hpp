// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <cairn/activity/mechanism.hpp>
#include <cairn/base/types.hpp>
#include <cairn/obs/trace.hpp>

namespace cairn::activity {

/// A mechanism and the operators per transaction (1 if there are no transactions).
struct choice {
  activity::mechanism mechanism = activity::mechanism::automatic;
  std::size_t grain = 1;
  bool operator==(const choice&) const = default;
};

/// One candidate of a tuner: a mechanism, its first grain, and whether the grain may change.
struct candidate {
  choice start;
  bool grain_is_free = false;
};

/// When a tuner tries another choice, and when it accepts the result. Its input is spans.
struct tuner_rules {
  double share = 0.02;         ///< of all time: the limit on time lost by trials
  double first_cost = 20'000;  ///< ns of the first trial beside its operators: cold code and memory
  double gain = 0.04;          ///< of the time: the saving that a new choice must bring
  unsigned pairs = 10;         ///< pairs of spans, by both choices, per trial; at most 16
  unsigned wins = 8;           ///< pairs that the new choice must win
  unsigned first_wait = 16;    ///< spans between two rounds of trials
  unsigned longest_wait = 256;  ///< its upper bound; it doubles while no trial succeeds
  unsigned watch = 16;          ///< spans between two measured ones while no trial runs
  double drift = 2;             ///< factor by which cost or aborts must change to end the wait
  unsigned min_operators = 16;  ///< per sample; shorter spans are added up
};

/// The measurements of a span of operators, which may include those whose message was unwanted. If
/// the span was not to be measured, `ns` has no meaning.
struct span_work {
  std::uint64_t operators = 0, ns = 0;
  std::uint64_t aborts = 0;  ///< aborted attempts, fallbacks included
};

/// Chooses mechanism and grain while operators run. It tries the neighbors of the current choice
/// one after another: half and twice its grain, and the other mechanisms.
///
/// A pure state machine: ask next() for a span's choice, run the span, report it with done(). A
/// trial runs spans by the old and the new choice alternately. The new choice is accepted if it won
/// most of these pairs and its median cost per operator is clearly lower. The time lost by trials
/// is kept below a share of all time, so a bad start value costs little. While no trial succeeds
/// the waits between rounds double. They start again at their first length when cost or aborts have
/// changed, because contention changes even within one graph search.
///
/// candidates    1 to 4; the first one runs first
/// Throws    contract_violation if the rules or candidates are out of range
/// Source    none: [AAM15] leaves the choice of M to future work
class tuner {
 public:
  struct step {
    activity::choice choice;
    bool measured;  ///< the time is to be reported to done()
  };

  explicit tuner(std::span<const candidate> candidates, const tuner_rules& rules = {});

  [[nodiscard]] step next() const noexcept;
  void done(const span_work& ran) noexcept;
  /// Makes candidate `i` the current choice, for a reason unknown to the tuner.
  void move_to(std::size_t i) noexcept;

  /// The choice that runs while there is no trial.
  [[nodiscard]] choice best() const noexcept { return choice_of(now_); }
  /// Completed trials, and how many of them changed best().
  [[nodiscard]] std::uint64_t trials() const noexcept { return trials_; }
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  /// What the last completed trial tried.
  [[nodiscard]] choice last_tried() const noexcept { return last_tried_; }
  /// The cost of best(), ns per operator; 0 if it has not been measured.
  [[nodiscard]] double cost() const noexcept { return cost_; }
  /// The share of all time lost by trials.
  [[nodiscard]] double lost_share() const noexcept {
    return total_ns_ > 0 ? lost_ns_ / total_ns_ : 0;
  }

 private:
  static constexpr std::size_t max_candidates = 4, max_pairs = 16;
  enum class state : std::uint8_t { waits, runs_old, runs_new };
  struct position {  // a candidate and its grain
    std::size_t candidate = 0, grain = 1;
  };

  [[nodiscard]] choice choice_of(const position& p) const noexcept {
    return {candidates_[p.candidate].start.mechanism, p.grain};
  }
  [[nodiscard]] bool affordable() const noexcept;
  [[nodiscard]] std::size_t num_directions() const noexcept { return 2 + num_candidates_ - 1; }
  [[nodiscard]] bool look(std::size_t direction, position& found) const noexcept;
  void look_elsewhere(std::size_t i) noexcept;
  void account(const span_work& ran, double ns) noexcept;
  void sampled(const span_work& seen) noexcept;
  void remember() noexcept;
  void begin_round() noexcept;
  void begin_trial() noexcept;
  void finish_pair(double cost) noexcept;
  void end_trial(bool won) noexcept;
  void watch_for_drift(double aborts) noexcept;

  std::array<candidate, max_candidates> candidates_{};
  std::size_t num_candidates_ = 0;
  tuner_rules rules_;
  position now_, tried_;
  span_work seen_;                                    // measured, but not yet enough for a sample
  std::array<std::size_t, max_candidates> grains_{};  // the best known grain of each candidate
  state state_ = state::waits;
  std::size_t direction_ = 0, lost_directions_ = 0;
  unsigned wait_ = 0, next_wait_ = 0, watches_left_ = 0, drifted_ = 0;
  unsigned pairs_ = 0, wins_ = 0, losses_ = 0;
  std::array<double, max_pairs> old_costs_{}, new_costs_{};
  // of best(), per operator; weighted towards recent samples
  double cost_ = 0, aborts_ = 0;
  double known_cost_ = 0, known_aborts_ = 0;  // the same at the end of the last round
  double expected_operators_ = 0;             // expected length of a span
  double total_ns_ = 0, lost_ns_ = 0, credit_ns_ = 0;
  std::uint64_t trials_ = 0, changes_ = 0;
  choice last_tried_;
};

/// A clause for reports: "; tried 12 other choices, of which 3 took less time"; empty without
/// trials.
[[nodiscard]] std::string trial_report(const tuner& t);

/// Records a choice in a trace, if it is on: "htm, grain 64".
void note_choice(obs::trace& t, worker_t k, std::string_view choice_name, const choice& made,
                 std::uint64_t trials = 0);

}  // namespace cairn::activity
