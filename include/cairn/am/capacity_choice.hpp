// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cairn::am {

/// Chooses the number of entries of a table that combines messages, from the share of messages that
/// merge. If too few merge, messages bypass the table.
///
/// The smallest table is tried first, because it fits the first-level cache. Each larger table has
/// four times the entries. A decision is made after eight messages per entry, so that the cost of
/// filling the table has a small weight.
///
///   not merged                   then
///   few enough, but some could   the next larger table is tried. It stays if `worth` more merge;
///   merge in a larger table      otherwise the smaller one returns, for a time that doubles
///   too many                     the next larger table, if the largest could merge enough: it is
///                                assumed that from table to table the merged share grows by at
///                                most the factor of the last growth, and by less than the entries
///   too many, and no table       messages bypass the table for a pause, which doubles up to a
///   could merge enough           bound. Then the smallest is tried again, so that a later phase
///                                with few keys is noticed
///
/// A pause is at least 64 times as long as the attempt that failed.
///
/// A pure state machine of one worker. Its decisions depend on the messages alone.
class capacity_choice {
 public:
  static constexpr std::size_t smallest = 1024;  ///< entries
  static constexpr std::uint64_t shortest_pause = std::uint64_t{1} << 16;
  static constexpr std::uint64_t longest_pause = std::uint64_t{1}
                                                 << 24;  ///< that is reached by doubling

  /// What a merged message saves: its handling, or also its way between machines.
  enum class saving { small, large };

  capacity_choice() noexcept : capacity_choice(smallest) {}
  /// max_entries  entries of the largest table, a power of two
  explicit capacity_choice(std::size_t max_entries, saving of_a_merge = saving::small) noexcept
      : max_(max_entries), max_unmerged_(of_a_merge == saving::small ? 1.0 / 4 : 3.0 / 4) {
    start();
  }

  /// Always a table of so many entries.
  [[nodiscard]] static capacity_choice fixed(std::size_t entries) noexcept {
    capacity_choice all(entries);
    all.capacity_ = entries;
    all.period_ = ~std::uint64_t{0};
    return all;
  }

  /// Whether messages are offered to the table.
  [[nodiscard]] bool open() const noexcept { return open_; }
  /// Entries of the table while it is open.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Counts n offered messages.
  void offered(std::uint64_t n) noexcept { seen_ += n; }
  /// An offered message was not merged: it found a free place, or evicted another message.
  /// offered() counts it before or after.
  void entered() noexcept { ++entered_; }
  /// Makes a decision if it is time. True if the table must be emptied first, because its number of
  /// entries has changed or messages bypass it from now on.
  [[nodiscard]] bool changes() noexcept { return seen_ >= period_ && turn(); }
  /// Counts n messages that bypassed the table. It may be open after that.
  void bypassed(std::uint64_t n) noexcept {
    seen_ += n;
    if (seen_ >= period_) start();
  }

 private:
  static constexpr std::size_t growth = 4;
  static constexpr std::uint64_t messages_per_entry = 8, pause_per_message = 64;
  static constexpr std::uint64_t first_stay = 64;  // judgements
  static constexpr double worth = 1.0 / 32;        // what a larger table must merge in addition

  void start() noexcept {
    open_ = true;
    judges_growth_ = false;
    merged_before_ = 0;
    resize(std::min(max_, smallest));
  }

  bool turn() noexcept {
    offered_ += seen_;
    const auto unmerged = static_cast<double>(std::exchange(entered_, 0)) /
                          static_cast<double>(std::exchange(seen_, 0));
    const auto merged = 1 - unmerged;
    if (std::exchange(judges_growth_, false) && merged < merged_before_ + worth) {
      stay_ = next_stay_;
      next_stay_ *= 2;
      merged_before_ = 0;
      resize(capacity_before_);
      return true;
    }
    const auto factor =
        merged_before_ > 0 ? std::min<double>(growth, merged / merged_before_) : growth;
    merged_before_ = merged;
    if (unmerged > max_unmerged_) {
      if (could_merge(merged, factor)) {
        resize(larger());
      } else {
        close();
      }
      return true;
    }
    pause_ = shortest_pause;
    offered_ = 0;
    if (stay_ > 0) --stay_;
    if (unmerged <= worth || capacity_ == max_ || stay_ > 0) {
      merged_before_ = 0;  // a later phase may have more keys
      return false;
    }
    judges_growth_ = true;
    capacity_before_ = capacity_;
    resize(larger());
    return true;
  }

  // Whether the largest table may merge enough, if this one merges so many, and each growth brings
  // at most this factor.
  [[nodiscard]] bool could_merge(double merged, double factor) const noexcept {
    if (capacity_ == max_) return false;
    for (auto entries = capacity_; entries < max_; entries *= growth) merged *= factor;
    return merged >= 1 - max_unmerged_;
  }

  void close() noexcept {
    open_ = false;
    period_ = std::max(pause_per_message * offered_, pause_);
    pause_ = std::min(2 * period_, longest_pause);
    offered_ = 0;
  }

  [[nodiscard]] std::size_t larger() const noexcept { return std::min(max_, growth * capacity_); }

  void resize(std::size_t entries) noexcept {
    capacity_ = entries;
    period_ = messages_per_entry * std::max(entries, smallest / 4);
    seen_ = entered_ = 0;
  }

  std::size_t max_ = smallest, capacity_ = smallest;
  double max_unmerged_ = 1.0 / 4;
  bool open_ = true, judges_growth_ = false;
  std::uint64_t period_ = 0;                         // messages from one decision to the next
  std::uint64_t seen_ = 0, entered_ = 0;             // since the last decision
  double merged_before_ = 0;                         // by the smaller table, if this one is new
  std::size_t capacity_before_ = 0;                  // of it
  std::uint64_t offered_ = 0;                        // since the table last paid
  std::uint64_t pause_ = shortest_pause;             // the next one
  std::uint64_t stay_ = 0, next_stay_ = first_stay;  // judgements without growth
};

}  // namespace cairn::am
