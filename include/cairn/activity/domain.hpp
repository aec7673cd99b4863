// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/plan.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/core/world.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/lock_table.hpp>
#include <cairn/tm/versioned_lock.hpp>

namespace cairn::activity {

/// Data that activities share on this rank, and the one mechanism that makes them atomic. Operators
/// that change a map together belong to the same domain.
///
///   plain     the rank has one worker
///   htm       transactions that subscribe to the domain's fallback lock
///   locks     the elements' locks, sorted
///   one_lock  one lock
///   stm       software transactions: versioned locks beside the data
///   automatic plain with one worker, else htm where the machine has it, else locks. Once htm
///             falls back too often, or activities take too many locks, stm from the next
///             epoch on. Then whatever took less time in epochs that tried it (plan.hpp)
///
/// Where htm is asked for and the machine has none, what automatic takes there.
///
/// A single-cell operator that names no domain has one of its own, an implicit one (cells::one):
/// plain with one worker, else atomics and htm, which notice each other and what other operators do
/// to the same cells by them. By locks or one_lock it is atomic only against itself: operators that
/// change the same map by these need an explicit domain. Single-cell operators may join one that
/// was asked for plain, locks or one_lock.
///
/// Memory    what a mechanism needs is made when an epoch first runs by it: 64 KB of locks, 512 KB
///           of version words
/// Throws    usage_error as decide()
/// Collective constructor.
class domain {
 public:
  explicit domain(world& w, const options& opt = {}, cells of = cells::several);

  [[nodiscard]] world& of() noexcept { return world_; }
  /// What was asked for.
  [[nodiscard]] const options& asked() const noexcept { return options_; }
  [[nodiscard]] const plan& choices() const noexcept { return plan_; }
  /// Whether its activities change several cells.
  [[nodiscard]] bool is_explicit() const noexcept { return of_ == cells::several; }

  /// The mechanism of the epoch that runs, or of the last, and why it is that one.
  [[nodiscard]] mechanism how() const noexcept {
    return static_cast<mechanism>(now_.load(std::memory_order_acquire) & 0xff);
  }
  [[nodiscard]] std::string why() const { return plan_.why(how(), counted()); }
  /// Whether the mechanism may change between epochs.
  [[nodiscard]] bool may_move() const noexcept { return plan_.may_move(); }
  /// Locks that the activities of this rank have taken by mechanism `locks`.
  [[nodiscard]] std::uint64_t locks_taken() const noexcept { return counted().stripes; }

  /// One more operator on this data; what it is called from then on. While no epoch is open.
  [[nodiscard]] std::size_t join() { return plan_.join(); }
  void leave(std::size_t op) noexcept { plan_.leave(op); }

  /// The mechanism of an epoch, the same for all its workers; that of the operator which is the
  /// first to ask. By any worker, while it is open.
  [[nodiscard]] mechanism how_in(std::uint64_t epoch, std::size_t op) {
    const auto now = now_.load(std::memory_order_acquire);
    if (now >> 8 == epoch || !may_move()) [[likely]]
      return static_cast<mechanism>(now & 0xff);
    return enter(epoch, op);
  }
  /// What a span of that operator ran, and what was measured of it.
  void count_work(std::size_t op, worker_t k, std::uint64_t n, const span_work& measured) noexcept {
    plan_.count_work(op, k, n, measured);
  }

  /// Under htm, and the lock of one_lock.
  [[nodiscard]] tm::fallback_lock& fallback() noexcept { return fallback_; }
  /// nullptr until an epoch runs by that mechanism, unless it is the only one.
  [[nodiscard]] tm::lock_table* locks() noexcept { return locks_.get(); }
  [[nodiscard]] tm::version_table<>* versions() noexcept { return versions_.get(); }
  /// What the emulated sections of all its operators share; nullptr if it emulates none.
  [[nodiscard]] tm::emulation* emulation() noexcept { return emulation_.get(); }

  /// What worker k runs its activities with, made at its first call. By that worker.
  [[nodiscard]] rtm_sections& rtm(worker_t k);
  [[nodiscard]] emulated_sections& emulated(worker_t k);
  [[nodiscard]] software_sections& software(worker_t k);
  [[nodiscard]] tm::lock_set& lock_set(worker_t k);

  [[nodiscard]] relax_in relax() const noexcept { return {&world_.pool()}; }

  // Counted by worker k, of its own activities.
  void count_activities(worker_t k, std::uint64_t n) noexcept { add(of_worker(k).committed, n); }
  void count_fallback(worker_t k) noexcept { add(of_worker(k).fallbacks, 1); }
  void count_stripes(worker_t k, std::uint64_t stripes) noexcept {
    add(of_worker(k).committed, 1);
    add(of_worker(k).stripes, stripes);
  }
  void count_waits(worker_t k, std::size_t n) noexcept {
    if (n > 0) [[unlikely]]
      world_.counters().add(k, obs::counter::lock_waits, n);
  }

 private:
  struct worker_part {
    std::unique_ptr<rtm_sections> rtm;
    std::unique_ptr<emulated_sections> emulated;
    std::unique_ptr<software_sections> software;
    std::unique_ptr<tm::lock_set> locks;
    std::atomic<std::uint64_t> committed{0}, fallbacks{0}, stripes{0};
  };

  [[nodiscard]] worker_part& of_worker(worker_t k) noexcept { return parts_[k]; }
  static void add(std::atomic<std::uint64_t>& sum, std::uint64_t n) noexcept {
    sum.store(sum.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t seed_of(worker_t k) const noexcept;
  [[nodiscard]] activity_counts counted() const noexcept;
  void prepare(mechanism how);
  mechanism enter(std::uint64_t epoch, std::size_t op);

  world& world_;
  const cells of_;
  const options options_;
  const std::optional<emulation_options> emulate_;
  plan plan_;
  tm::fallback_lock entering_;
  std::atomic<std::uint64_t> now_;  // epoch << 8 | mechanism
  task::per_worker<worker_part> parts_;
  tm::fallback_lock fallback_;
  std::unique_ptr<tm::lock_table> locks_;
  std::unique_ptr<tm::version_table<>> versions_;
  std::unique_ptr<tm::emulation> emulation_;
};

}  // namespace cairn::activity
