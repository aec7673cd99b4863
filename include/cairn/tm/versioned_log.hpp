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
#include <cairn/tm/spin_lock.hpp>
#include <cairn/tm/versioned_lock.hpp>

namespace cairn::tm {

/// What a versioned transaction checks, and where its stores go. Tests switch checks off, one at
/// a time, to show that each is needed.
struct versioned_rules {
  static constexpr bool look_again = true;            ///< at the word, after the data was read
  static constexpr bool check_when_extending = true;  ///< the reads, before the snapshot moves
  static constexpr bool check_at_commit = true;       ///< the reads
  static constexpr bool new_version_on_abort = true;  ///< where others may have seen a store
  /// Stores go to the cells at once and an abort undoes them; otherwise they wait for the commit
  /// and a reader outside never sees what will be undone.
  static constexpr bool in_place = false;
  /// Rounds of `relax`, which pauses for some tens of rounds and then yields: enough for an owner
  /// that lost its core to get it back.
  static constexpr unsigned patience = 2000;
  /// The same for who may be waiting in a circle: about what a transaction takes.
  static constexpr unsigned patience_out_of_order = 16;
};

/// One worker's transaction over version words: its snapshot, what it has read and what it owns.
/// It knows words, not data: versioned_section puts cells above it.
///
/// A word is taken when its data is first written (so that writers that meet wait for each
/// other and do not both run to an end that one of them loses), and reads are checked at the
/// commit. Every read is of the snapshot, the state after commit number `snapshot`; data that is
/// newer moves the snapshot forward if all that was read is still as it was. So a body never
/// sees what no serial order has (opacity).
///
/// Who finds a word owned waits: without bound if it runs alone, long if the word lies above all
/// that it owns, else a short random time. Then it leaves. In a circle of waiters somebody waits
/// for a word below one that it owns, so a circle does not last; for one that runs alone all who
/// own something hurry.
///
/// owner      this worker's number among those that share the clock
/// Throws     `leave` (conflict) from everything that reads, owns, extends or commits
/// Source     [Dice06] (TL2) and [Felber08] (TinySTM): what differs is who waits, and how an
///            attempt that lost too often ends
template <class Atomics, class Rules, relax_function Relax>
class versioned_log {
 public:
  using word = typename Atomics::word;

  /// A word that this owns.
  struct record {
    word* at;
    version_state before;
    std::uint32_t tag = 0;  ///< for who uses the log
  };

  versioned_log(version_clock<Atomics>& clock, std::uint32_t owner, Relax relax)
      : clock_(&clock), random_(owner), relax_(std::move(relax)), owner_(owner) {
    CAIRN_EXPECTS(owner < version_state::most_owners, "at most 32768 workers");
  }

  void begin() noexcept { snapshot_ = clock_->now.load(std::memory_order_acquire); }

  /// Begins a transaction that is never left: it waits without bound and owns what it reads, so
  /// that nothing can make it start again. One at a time; the others go on meanwhile.
  void begin_alone() {
    std::uint64_t nobody = 0;
    for (unsigned rounds = 0; !clock_->senior.compare_exchange_strong(
             nobody, owner_ + 1, std::memory_order_acquire, std::memory_order_relaxed);) {
      nobody = 0;
      relax_(rounds++);
    }
    alone_ = true;
    begin();
  }
  [[nodiscard]] bool alone() const noexcept { return alone_; }

  /// The state of a word whose data may be read: free and of the snapshot, or owned by this.
  [[gnu::always_inline]] version_state sample(word& w) {
    const version_state seen(w.load(std::memory_order_acquire));
    if (!seen.owned() && seen.version() <= snapshot_) [[likely]]
      return seen;
    return sample_slowly(w, seen);
  }

  /// After the data was read: whether it was what `before` says. Remembers the read.
  [[gnu::always_inline]] bool confirm(word& w, version_state before) {
    if (Rules::look_again && w.load(std::memory_order_relaxed) != before.bits()) return false;
    reads_.push_back({&w, before});
    return true;
  }

  [[nodiscard, gnu::always_inline]] bool mine(version_state seen) const noexcept {
    return seen.owned_by(owner_);
  }

  /// The record of a word that sample() found to be mine().
  [[nodiscard, gnu::always_inline]] record& record_of(version_state seen) noexcept {
    return owned_[seen.record()];
  }

  /// Takes a word, if it is not owned by this yet. The record stays where it is until the next
  /// word is taken.
  [[gnu::always_inline]] record& own(word& w) {
    for (;;) {
      const auto seen = sample(w);
      if (mine(seen)) return record_of(seen);
      const auto number = owned_.size();
      owned_.push_back({&w, seen});  // first: it may fail
      std::uint64_t expected = seen.bits();
      if (w.compare_exchange_strong(expected, version_state::owned_by(owner_, number).bits(),
                                    std::memory_order_acquire, std::memory_order_relaxed))
          [[likely]]
        return owned_.back();
      owned_.pop_back();
    }
  }

  /// Commits: from here on nothing can fail. publish() then stores what is still buffered.
  template <class Publish>
  [[gnu::always_inline]] void commit(Publish&& publish) {
    if (!owned_.empty()) {
      const auto version = clock_->now.fetch_add(1, std::memory_order_acq_rel) + 1;
      // Nobody else has committed since the snapshot, if it is the one before.
      if (Rules::check_at_commit && version != snapshot_ + 1 && !reads_hold()) [[unlikely]]
        leave_for_conflict();
      publish();
      give_back(version_state::free_at(version));
    }
    end();
  }

  /// Gives back everything. What `undo` restores has been stored in place.
  template <class Undo>
  void cancel(Undo&& undo) noexcept {
    undo();
    if (Rules::in_place && Rules::new_version_on_abort && !owned_.empty()) {
      // Somebody may have read what was just undone, between two looks at the same version.
      const auto version = clock_->now.fetch_add(1, std::memory_order_acq_rel) + 1;
      give_back(version_state::free_at(version));
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
    unsigned patience = 0;
    for (unsigned rounds = 0;; seen = version_state(w.load(std::memory_order_acquire))) {
      if (!seen.owned()) {
        if (seen.version() > snapshot_) extend();
        return seen;
      }
      if (mine(seen)) return seen;
      if (rounds == 0) patience = draw_patience(w);
      if (rounds >= Rules::patience_out_of_order && hinders_senior()) patience = rounds;
      if (rounds >= patience && !alone_) leave_for_conflict();
      relax_(rounds++);
    }
  }

  unsigned draw_patience(const word& wanted) noexcept {
    const bool in_order = std::all_of(owned_.begin(), owned_.end(), [&](const record& o) {
      return std::less<const word*>()(o.at, &wanted);
    });
    const unsigned least = in_order ? Rules::patience : Rules::patience_out_of_order;
    return least + static_cast<unsigned>(random_.below(least));
  }

  // Who runs alone waits without bound, in whatever order, for what others own.
  [[nodiscard]] bool hinders_senior() const noexcept {
    return !owned_.empty() && clock_->senior.load(std::memory_order_relaxed) != 0;
  }

  // The acquire makes the owners of all commits up to `now` visible to the check that follows.
  void extend() {
    const auto now = clock_->now.load(std::memory_order_acquire);
    if (Rules::check_when_extending && !reads_hold()) leave_for_conflict();
    snapshot_ = now;
  }

  [[nodiscard]] bool reads_hold() const noexcept {
    for (const auto& r : reads_) {
      const version_state seen(r.at->load(std::memory_order_relaxed));
      if (seen == r.before) continue;
      if (!mine(seen) || owned_[seen.record()].before != r.before) return false;
    }
    return true;
  }

  void give_back(version_state as) noexcept {
    for (const auto& o : owned_) o.at->store(as.bits(), std::memory_order_release);
  }

  void end() noexcept {
    reads_.clear();
    owned_.clear();
    if (alone_) [[unlikely]] {
      alone_ = false;
      clock_->senior.store(0, std::memory_order_release);
    }
  }

  [[noreturn, gnu::noinline]] static void leave_for_conflict() {
    throw leave{attempt_outcome::abort(abort_cause::conflict)};
  }

  version_clock<Atomics>* clock_;
  std::uint64_t snapshot_ = 0;
  std::vector<read> reads_;
  std::vector<record> owned_;
  random64 random_;
  [[no_unique_address]] Relax relax_;
  std::uint32_t owner_;
  bool alone_ = false;
};

}  // namespace cairn::tm
