// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <cairn/activity/mechanism.hpp>

namespace cairn::activity {

/// A mechanism and the operators per transaction (1 where there are none).
struct choice {
  mechanism how = mechanism::automatic;
  std::size_t grain = 1;
  bool operator==(const choice&) const = default;
};

/// What a tuner may choose: a mechanism, from which grain on, and whether other grains may follow.
struct candidate {
  choice start;
  bool grain_is_free = false;
};

/// When a tuner tries another way and when it believes what it saw. Spans are what it is fed.
struct tuner_rules {
  double share = 0.02;            ///< of all time: what trying may lose
  double gain = 0.04;             ///< of the time: what a way must save to be taken
  unsigned pairs = 10;            ///< of spans, by the old and the new way, that decide; at most 16
  unsigned wins = 8;              ///< of them that the new way must win
  unsigned first_wait = 16;       ///< spans between two rounds of trying everything near
  unsigned longest_wait = 256;    ///< to which that doubles while nothing better is found
  unsigned watch = 16;            ///< spans between two that are measured meanwhile
  double drift = 2;               ///< factor of the cost or of the aborts that ends the wait
  unsigned least_operators = 16;  ///< that say something; spans with fewer count together
};

/// What a span of operators took. `ns` of one that was not to be measured means nothing.
struct span_work {
  std::uint64_t operators = 0, ns = 0;
  std::uint64_t aborts = 0;  ///< of its attempts, fallbacks included
};

/// Chooses mechanism and grain while operators run: of the ways near the one that runs (half and
/// twice its grain, other mechanisms) it tries one after another.
///
/// A pure state machine: ask next() for a span's way, run it, feed done(). To try is to run spans
/// by the old and the new way in turns; the new one is taken if it won most of these pairs and
/// its median cost per operator is clearly lower. What trying loses is kept below a share of
/// all time, so a bad guess costs little, whatever it is worth. While nothing better is found the
/// pauses between trials double; they begin anew when cost or aborts have changed, because
/// contention does, within one search of a graph too.
///
/// candidates    1 to 4; the first one runs first
/// Throws    contract_violation for rules or candidates that make no sense
/// Source    [AAM15] leaves the choice of M to future work; ours
class tuner {
 public:
  struct step {
    choice way;
    bool measured;  ///< done() is to be told the time
  };

  explicit tuner(std::span<const candidate> candidates, const tuner_rules& rules = {});

  [[nodiscard]] step next() const noexcept;
  void done(const span_work& ran) noexcept;
  /// Candidate `i` runs from now on, for a reason that the tuner does not know.
  void move_to(std::size_t i) noexcept;

  /// What runs while nothing is tried.
  [[nodiscard]] choice best() const noexcept { return way(now_); }
  /// Trials that ended, and those of them that changed best().
  [[nodiscard]] std::uint64_t trials() const noexcept { return trials_; }
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  /// The cost of best(), ns per operator; 0 if none was measured.
  [[nodiscard]] double cost() const noexcept { return cost_; }
  /// The share of all time that trying has lost.
  [[nodiscard]] double lost_share() const noexcept {
    return total_ns_ > 0 ? lost_ns_ / total_ns_ : 0;
  }

 private:
  static constexpr std::size_t most_candidates = 4, most_pairs = 16;
  enum class state : std::uint8_t { waits, runs_old, runs_new };
  struct place {  // of a way: a candidate, and a grain for it
    std::size_t candidate = 0, grain = 1;
  };

  [[nodiscard]] choice way(const place& p) const noexcept {
    return {candidates_[p.candidate].start.how, p.grain};
  }
  [[nodiscard]] bool affordable() const noexcept;
  [[nodiscard]] std::size_t num_directions() const noexcept { return 2 + num_candidates_ - 1; }
  [[nodiscard]] bool look(std::size_t direction, place& found) const noexcept;
  void look_elsewhere(std::size_t i) noexcept;
  void account(const span_work& ran, double ns) noexcept;
  void sampled(const span_work& seen) noexcept;
  void remember() noexcept;
  void begin_round() noexcept;
  void begin_trial() noexcept;
  void finish_pair(double cost) noexcept;
  void end_trial(bool won) noexcept;
  void watch_for_drift(double aborts) noexcept;

  std::array<candidate, most_candidates> candidates_{};
  std::size_t num_candidates_ = 0;
  tuner_rules rules_;
  place now_, tried_;
  span_work seen_;                                     // measured, not yet enough to say something
  std::array<std::size_t, most_candidates> grains_{};  // the best known of each
  state state_ = state::waits;
  std::size_t direction_ = 0, lost_directions_ = 0;
  unsigned wait_ = 0, next_wait_ = 0, to_watch_ = 0, drifted_ = 0;
  unsigned pairs_ = 0, wins_ = 0, losses_ = 0;
  std::array<double, most_pairs> old_costs_{}, new_costs_{};
  double cost_ = 0, aborts_ = 0;              // of best(), per operator; recent ones count most
  double known_cost_ = 0, known_aborts_ = 0;  // when it was last compared
  double expected_operators_ = 0;             // of a span
  double total_ns_ = 0, lost_ns_ = 0, credit_ns_ = 0;
  std::uint64_t trials_ = 0, changes_ = 0;
};

/// "; in 12 trials 3 were faster" or, if there were none, nothing: for a report.
[[nodiscard]] std::string said_of(const tuner& t);

}  // namespace cairn::activity
