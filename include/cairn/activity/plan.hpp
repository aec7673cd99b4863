// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cairn/activity/epoch_tuner.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/tuner.hpp>
#include <cairn/base/types.hpp>

namespace cairn::activity {

/// What the activities of a domain have done.
struct activity_counts {
  std::uint64_t committed = 0, fallbacks = 0;  ///< groups of hardware transactions
  std::uint64_t by_locks = 0, stripes = 0;     ///< activities by locks, and the locks they took
};

/// Whether the share of fallbacks is too high. While one worker holds the fallback lock no other
/// makes progress. From one quarter on, software transactions cost less in all, although each of
/// their accesses costs more.
[[nodiscard]] constexpr bool falls_back_too_often(const activity_counts& n) noexcept {
  constexpr std::uint64_t few = 64;  // minimum sample size
  return n.fallbacks + n.committed >= few && 4 * n.fallbacks > n.fallbacks + n.committed;
}

/// Whether activities by sorted locks took so many stripes that software transactions would cost
/// less. Measured: from four elements on, one more lock costs more than one more owned word
/// (docs/decisions/0013-software-transactions.md).
[[nodiscard]] constexpr bool takes_too_many_locks(const activity_counts& n) noexcept {
  constexpr std::uint64_t few = 64;
  return n.by_locks >= few && n.stripes > 4 * n.by_locks;
}

/// How many cells one operator of a domain changes.
enum class cells { one, several };

/// What a choice depends on, apart from the options.
struct environment {
  bool one_worker = true;
  bool others_rest = false;  ///< the rank has other workers, which do not take part
  bool one_writer = false;   ///< each element has one worker, to which its messages go
  bool emulated = false;     ///< hardware transactions are emulated
  bool hardware = false;     ///< hardware transactions work; not determined if it does not matter
  std::string why_no_hardware = {};
};

/// A mechanism, the operators per activity, and the reason, for reports.
struct decision {
  activity::mechanism mechanism = activity::mechanism::automatic;
  std::size_t grain = 1;
  std::string why;
};

/// The mechanism and grain that operators of a domain start with.
///
/// If htm is requested and there is none: atomics (one cell) or the automatic choice (several).
/// Throws    usage_error if the mechanism cannot run: plain with several workers, stm for one cell,
///           atomics for several
[[nodiscard]] decision decide(cells changed, const options& requested, const environment& here);

/// Operators that run before anything is measured. A run of some microseconds ends before.
inline constexpr std::uint64_t untuned_operators = 1024;

/// The choices of one domain: its first mechanism, the possible later ones, and the reasons.
///
/// Implicit domains of single-cell operators (cells::one) keep their first mechanism, or each
/// worker changes between mechanisms that notice each other. Explicit domains (cells::several) with
/// an automatic choice change between epochs: first by the rules above, later by an epoch_tuner of
/// each operator. Every worker chooses the grain by a tuner (pace.hpp).
///
/// Memory        tuners are created for operators that have run untuned_operators times, so a small
///               run has none
/// Thread-safety: count_work(.., k, ..) by worker k; the other calls by one thread at a time
class plan {
 public:
  plan(cells changed, const options& requested, const environment& here, int workers);

  [[nodiscard]] const decision& first() const noexcept { return first_; }
  /// Whether the mechanism may change between epochs.
  [[nodiscard]] bool may_change_mechanism() const noexcept { return !epoch_candidates_.empty(); }
  /// The choice that a worker starts with in an epoch by this mechanism.
  [[nodiscard]] choice start_of(mechanism chosen) const noexcept;
  /// The candidates of a worker's tuner in epochs by `chosen`; empty if there is no choice.
  [[nodiscard]] std::vector<candidate> worker_candidates(mechanism chosen) const;
  /// Whether worker_candidates is non-empty for some mechanism.
  [[nodiscard]] bool tunes_workers() const noexcept { return tunes_workers_; }

  /// Registers one more operator and returns its number in the calls below. Called while no epoch
  /// is open.
  [[nodiscard]] std::size_t join();
  void leave(std::size_t op) noexcept;
  /// Records the operators that a span ran, and its measurements.
  void count_work(std::size_t op, worker_t k, std::uint64_t n, const span_work& measured) noexcept {
    if (!may_change_mechanism()) return;
    auto& of = *operators_[op];
    if (of.epochs) {
      of.epochs->count(k, n, measured);
    } else {
      of.ran.fetch_add(n, std::memory_order_relaxed);
    }
  }
  /// The mechanism of the next epoch, in which operator `op` is the first to run. The last epoch
  /// ran by `ran`.
  [[nodiscard]] mechanism next_epoch(std::size_t op, mechanism ran, const activity_counts& counted);

  /// The reason why the domain runs `now`.
  [[nodiscard]] std::string why(mechanism now, const activity_counts& counted) const;

 private:
  [[nodiscard]] bool must_leave(mechanism chosen, const activity_counts& counted) const noexcept;
  void move_all_to_stm() noexcept;
  [[nodiscard]] std::size_t stm_candidate() const noexcept { return epoch_candidates_.size() - 1; }

  cells cells_;
  options requested_;
  bool has_hardware_;  // real or emulated
  int workers_;
  decision first_;
  bool tunes_workers_ = false, moved_to_stm_ = false;
  // the first mechanism, then the others; stm is last if present
  std::vector<candidate> epoch_candidates_;
  struct operator_state {
    std::atomic<std::uint64_t> ran{0};    // operators that ran before it got a tuner
    std::unique_ptr<epoch_tuner> epochs;  // created after untuned_operators
  };
  std::vector<std::unique_ptr<operator_state>> operators_;
};

}  // namespace cairn::activity
