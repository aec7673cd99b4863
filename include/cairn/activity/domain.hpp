// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cairn/activity/epoch_tuner.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/core/world.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/lock_table.hpp>
#include <cairn/tm/versioned_lock.hpp>

namespace cairn::activity {

/// Whether so many fallbacks among so many groups of hardware transactions are too many: while
/// one holds the fallback lock nobody else goes on, so a quarter of them is worth the dearer
/// accesses of software transactions.
[[nodiscard]] constexpr bool falls_back_too_often(std::uint64_t fallbacks,
                                                  std::uint64_t committed) noexcept {
  constexpr std::uint64_t few = 64;  // say nothing yet
  return fallbacks + committed >= few && 4 * fallbacks > fallbacks + committed;
}

/// Whether activities by sorted locks that took so many stripes are dearer than software
/// transactions: measured, a lock more costs more than an owned word from four elements on
/// (docs/decisions/0013-software-transactions.md).
[[nodiscard]] constexpr bool locks_too_many(std::uint64_t stripes,
                                            std::uint64_t activities) noexcept {
  constexpr std::uint64_t few = 64;
  return activities >= few && stripes > 4 * activities;
}

/// Data that multi-cell activities share on this rank, and the one mechanism that makes them
/// atomic. Operators that touch a map together belong to the same domain.
///
///   plain     the rank has one worker
///   htm       transactions that subscribe to the domain's fallback lock
///   locks     the elements' locks, sorted
///   one_lock  one lock
///   stm       software transactions: versioned locks beside the data
///   automatic plain with one worker, else htm where the machine has it, else locks. Once htm
///             falls back too often, or activities take too many locks, stm from the next
///             epoch on. Then whatever took less time in epochs that tried it (epoch_tuner.hpp)
///
/// Where htm is asked for and the machine has none, what automatic takes there.
/// Throws    usage_error if asked for plain with several workers, or for atomics, which cannot
///           make several cells change at once
/// Collective constructor.
class domain {
 public:
  explicit domain(world& w, const options& opt = {});

  [[nodiscard]] world& of() noexcept { return world_; }
  /// `how` of it is the mechanism of the first epoch.
  [[nodiscard]] const options& chosen() const noexcept { return options_; }

  /// The mechanism of the epoch that runs, or of the last, and why it is that one.
  [[nodiscard]] mechanism how() const noexcept {
    return static_cast<mechanism>(now_.load(std::memory_order_acquire) & 0xff);
  }
  [[nodiscard]] std::string why() const;

  /// Locks that the activities of this rank have taken by mechanism `locks`.
  [[nodiscard]] std::uint64_t locks_taken() const noexcept {
    return counted_.total(obs::counter::attempts);
  }

  /// Whether the mechanism may change between epochs.
  [[nodiscard]] bool may_move() const noexcept { return may_move_; }

  /// One more operator on this data; what it is called from then on. While no epoch is open.
  [[nodiscard]] std::size_t join();
  void leave(std::size_t op) noexcept {
    if (may_move_) operators_[op].reset();
  }

  /// The mechanism of an epoch, the same for all its workers; that of the operator which is the
  /// first to ask. By any worker, while it is open.
  [[nodiscard]] mechanism how_in(std::uint64_t epoch, std::size_t op) {
    if (!may_move_) return options_.how;
    const auto now = now_.load(std::memory_order_acquire);
    if (now >> 8 == epoch) [[likely]]
      return static_cast<mechanism>(now & 0xff);
    return enter(epoch, op);
  }
  /// What a lane of that operator ran, and what was measured of it.
  void count_work(std::size_t op, worker_t k, std::uint64_t n, const span_work& measured) noexcept {
    if (may_move_) operators_[op]->count(k, n, measured);
  }

  void count_sections(worker_t k, std::uint64_t n) noexcept {
    counted_.add(k, obs::counter::activities, n);
  }
  void count_fallback(worker_t k) noexcept { counted_.add(k, obs::counter::fallbacks); }
  void count_locks(worker_t k, std::uint64_t stripes) noexcept {
    counted_.add(k, obs::counter::activities);
    counted_.add(k, obs::counter::attempts, stripes);
  }

  /// Under htm, and the lock of one_lock.
  [[nodiscard]] tm::fallback_lock& fallback() noexcept { return fallback_; }
  [[nodiscard]] tm::lock_table& locks() noexcept { return locks_; }
  /// Nothing until an epoch runs by stm, unless that is the first mechanism.
  [[nodiscard]] tm::version_table<>* versions() noexcept { return versions_.get(); }
  /// What the emulated sections of all its operators share; nothing if it emulates none.
  [[nodiscard]] tm::emulation* emulation() noexcept { return emulation_.get(); }

 private:
  mechanism enter(std::uint64_t epoch, std::size_t op);
  [[nodiscard]] bool must_leave(mechanism how) const noexcept;
  void move_all_to_stm() noexcept;
  [[nodiscard]] std::size_t stm_way() const noexcept { return ways_.size() - 1; }

  world& world_;
  options options_;
  std::string why_;
  bool may_move_ = false, had_to_leave_ = false;
  std::vector<candidate> ways_;  // the first mechanism, then the others
  std::vector<std::unique_ptr<epoch_tuner>> operators_;
  tm::fallback_lock entering_;
  std::atomic<std::uint64_t> now_{0};  // epoch << 8 | mechanism
  // By the mechanism of the first epoch: activities; fallbacks (htm); stripes as attempts (locks).
  obs::counters counted_;
  tm::fallback_lock fallback_;
  tm::lock_table locks_;
  std::unique_ptr<tm::version_table<>> versions_;
  std::unique_ptr<tm::emulation> emulation_;
};

}  // namespace cairn::activity
