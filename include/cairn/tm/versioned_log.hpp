// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/tm/hardware_section.hpp>
#include <cairn/tm/versioned_lock.hpp>
#include <cairn/tm/word_lock.hpp>

namespace cairn::tm {

/// The checks of a versioned transaction, and where its stores go. Tests disable the checks one at
/// a time to show that each is needed.
struct versioned_rules {
  static constexpr bool recheck_word_after_read = true;  ///< reads the word again after its data
  static constexpr bool check_when_extending = true;     ///< checks reads before the snapshot moves
  static constexpr bool check_at_commit = true;          ///< checks the reads
  static constexpr bool new_version_on_abort = true;     ///< if others may have seen a store
  /// Stores go to the cells at once, and an abort undoes them. Otherwise stores are buffered until
  /// the commit, and a reader outside never sees a value that is undone later.
  static constexpr bool in_place = false;
  /// Rounds of `relax`, which pauses for some tens of rounds and then yields. Enough for a
  /// preempted owner to be scheduled again.
  static constexpr unsigned wait_rounds = 2000;
  /// The same if the transaction may be part of a cycle: about the duration of a transaction.
  static constexpr unsigned wait_rounds_out_of_order = 16;
};

/// One worker's transaction over version words: its snapshot, its reads and the words it owns. It
/// handles words, not data; versioned_section adds the cells.
///
/// A word is acquired when its data is first written. Conflicting writers then wait for each other,
/// where otherwise both would run to the end and one would abort. Reads are checked at the commit.
/// Every read sees the snapshot, the state after commit number `snapshot`. Newer data moves the
/// snapshot forward if all earlier reads are still valid. So a body never sees a state that no
/// serial order produces (opacity).
///
/// A transaction that needs an owned word waits, then aborts. It waits long if the word's address
/// is above all words that it owns, else a short random time. A cycle of waiters breaks, because
/// one of them waits for a word below one that it owns. An irrevocable transaction waits
/// unboundedly; meanwhile all transactions that own words wait only shortly.
///
/// A body that catches `leave` and goes on does not commit: the commit aborts, too.
///
/// owner      this worker's number among the workers that share the clock
/// Throws     `leave` (conflict) from all functions that read, own, extend or commit
/// Source     [Dice06] (TL2) and [Felber08] (TinySTM). The rules for waiting and the irrevocable
///            transaction after too many aborts differ
template <class Atomics, class Rules, relax_function Relax>
class versioned_log {
 public:
  using word = typename Atomics::word;

  /// A word that this transaction owns.
  struct record {
    word* at;
    version_state before;
    std::uint32_t tag = 0;  ///< for the user of the log
  };

  versioned_log(version_clock<Atomics>& clock, std::uint32_t owner, Relax relax)
      : clock_(&clock), random_(owner), relax_(std::move(relax)), owner_(owner) {
    CAIRN_EXPECTS(owner < version_state::max_owners, "at most 32768 workers");
  }

  void begin() noexcept { snapshot_ = clock_->now.load(std::memory_order_acquire); }

  /// Begins an irrevocable transaction: it waits unboundedly and owns the words it reads, so
  /// nothing aborts it. One runs at a time; other transactions continue.
  void begin_irrevocable() {
    std::uint64_t nobody = 0;
    for (unsigned rounds = 0; !clock_->irrevocable_owner.compare_exchange_strong(
             nobody, owner_ + 1, std::memory_order_acquire, std::memory_order_relaxed);) {
      nobody = 0;
      relax_(rounds++);
    }
    irrevocable_ = true;
    begin();
  }
  [[nodiscard]] bool irrevocable() const noexcept { return irrevocable_; }

  /// The state of a word whose data may be read: free and within the snapshot, or owned by this.
  [[gnu::always_inline]] version_state sample(word& w) {
    const version_state seen(w.load(std::memory_order_acquire));
    if (!seen.owned() && seen.version() <= snapshot_) [[likely]]
      return seen;
    return sample_slowly(w, seen);
  }

  /// Called after the data was read. Returns whether the word is still `before`; records the read.
  [[gnu::always_inline]] bool confirm(word& w, version_state before) {
    if (Rules::recheck_word_after_read && w.load(std::memory_order_relaxed) != before.bits())
      return false;
    reads_.push_back({&w, before});
    return true;
  }

  [[nodiscard, gnu::always_inline]] bool mine(version_state seen) const noexcept {
    return seen.owned_by(owner_);
  }

  /// The record of a word whose sample() is mine().
  [[nodiscard, gnu::always_inline]] record& record_of(version_state seen) noexcept {
    return owned_[seen.record()];
  }

  /// Acquires a word unless this transaction owns it. The record stays in place until the next word
  /// is acquired.
  [[gnu::always_inline]] record& own(word& w) {
    for (;;) {
      const auto seen = sample(w);
      if (mine(seen)) return record_of(seen);
      const auto number = owned_.size();
      owned_.push_back({&w, seen});  // first, because it may throw
      std::uint64_t expected = seen.bits();
      if (w.compare_exchange_strong(expected, version_state::owned_by(owner_, number).bits(),
                                    std::memory_order_acquire, std::memory_order_relaxed))
          [[likely]]
        return owned_.back();
      owned_.pop_back();
    }
  }

  /// Commits. publish() writes the buffered stores; it runs after the last point that can fail.
  template <class Publish>
  [[gnu::always_inline]] void commit(Publish&& publish) {
    if (doomed_) [[unlikely]]
      abort_conflict();
    if (!owned_.empty()) {
      const auto version = clock_->now.fetch_add(1, std::memory_order_acq_rel) + 1;
      // If `version` directly follows the snapshot, no other transaction has committed since.
      if (Rules::check_at_commit && version != snapshot_ + 1 && !reads_valid()) [[unlikely]]
        abort_conflict();
      publish();
      release_all(version_state::free_at(version));
    }
    end();
  }

  /// Aborts. undo() restores the stores made in place; then all words are released.
  template <class Undo>
  void cancel(Undo&& undo) noexcept {
    undo();
    if (Rules::in_place && Rules::new_version_on_abort && !owned_.empty()) {
      // Another transaction may have read an undone store between two reads of one version.
      const auto version = clock_->now.fetch_add(1, std::memory_order_acq_rel) + 1;
      release_all(version_state::free_at(version));
    } else {
      for (const auto& o : owned_) o.at->store(o.before.bits(), std::memory_order_release);
    }
    end();
  }

 private:
  struct read {
    word* at;
    version_state before;
  };

  version_state sample_slowly(word& w, version_state seen) {
    unsigned wait_rounds = 0;
    for (unsigned rounds = 0;; seen = version_state(w.load(std::memory_order_acquire))) {
      if (!seen.owned()) {
        if (seen.version() > snapshot_) extend_snapshot();
        return seen;
      }
      if (mine(seen)) return seen;
      if (rounds == 0) wait_rounds = draw_wait_rounds(w);
      if (rounds >= Rules::wait_rounds_out_of_order && may_block_irrevocable())
        wait_rounds = rounds;
      if (rounds >= wait_rounds && !irrevocable_) abort_conflict();
      relax_(rounds++);
    }
  }

  unsigned draw_wait_rounds(const word& wanted) noexcept {
    const bool in_order = std::all_of(owned_.begin(), owned_.end(), [&](const record& o) {
      return std::less<const word*>()(o.at, &wanted);
    });
    const unsigned min_rounds = in_order ? Rules::wait_rounds : Rules::wait_rounds_out_of_order;
    return min_rounds + static_cast<unsigned>(random_.below(min_rounds));
  }

  // Whether an irrevocable transaction may be waiting for words of this one.
  [[nodiscard]] bool may_block_irrevocable() const noexcept {
    return !owned_.empty() && clock_->irrevocable_owner.load(std::memory_order_relaxed) != 0;
  }

  // The acquire makes the owners in all commits up to `now` visible to the check below.
  void extend_snapshot() {
    const auto now = clock_->now.load(std::memory_order_acquire);
    if (Rules::check_when_extending && !reads_valid()) abort_conflict();
    snapshot_ = now;
  }

  [[nodiscard]] bool reads_valid() const noexcept {
    for (const auto& r : reads_) {
      const version_state seen(r.at->load(std::memory_order_relaxed));
      if (seen == r.before) continue;
      if (!mine(seen) || owned_[seen.record()].before != r.before) return false;
    }
    return true;
  }

  void release_all(version_state as) noexcept {
    for (const auto& o : owned_) o.at->store(as.bits(), std::memory_order_release);
  }

  void end() noexcept {
    reads_.clear();
    owned_.clear();
    doomed_ = false;
    if (irrevocable_) [[unlikely]] {
      irrevocable_ = false;
      clock_->irrevocable_owner.store(0, std::memory_order_release);
    }
  }

  [[noreturn, gnu::noinline]] void abort_conflict() {
    doomed_ = true;
    throw leave{attempt_outcome::abort(abort_cause::conflict)};
  }

  version_clock<Atomics>* clock_;
  std::uint64_t snapshot_ = 0;
  std::vector<read> reads_;
  std::vector<record> owned_;
  random64 random_;
  [[no_unique_address]] Relax relax_;
  std::uint32_t owner_;
  bool irrevocable_ = false, doomed_ = false;  // doomed_: `leave` was thrown
};

}  // namespace cairn::tm
