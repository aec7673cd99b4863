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

/// The options of a program's operators: those that the program gives, completed by the settings of
/// the world (mechanism.hpp). --filter 0 applies to all operators.
[[nodiscard]] options with_settings(const world& w, options given);

/// Data that activities share on this rank, and the one mechanism that makes them atomic. Operators
/// that change the same map belong to the same domain.
///
///   plain     no synchronisation: the rank has one worker, or messages go to the worker that owns
///             the element
///   htm       transactions that subscribe to the domain's fallback lock
///   locks     the elements' locks, acquired in sorted order
///   one_lock  one lock
///   stm       software transactions: versioned locks beside the data
///   automatic plain with one worker, else htm if the machine has it, else locks. If htm falls
///             back too often, or activities take too many locks, stm from the next epoch on.
///             Later the mechanism whose trial epochs took less time (plan.hpp)
///
/// If htm is requested and the machine has none, the domain runs what automatic chooses there.
///
/// A single-cell operator that names no domain gets an implicit one (cells::one): plain with one
/// worker, else atomics and htm. These two notice each other, and also changes that other operators
/// make to the same cells by either of them; where transactions are emulated on threads, only those
/// of the same operator. With delivery::owner an operator without answers runs
/// plain: no operator with answers may change its cells in the same epoch. With locks or one_lock
/// an operator of an implicit domain is atomic only against itself: operators that change the same
/// map by these mechanisms need an explicit domain. A single-cell operator may join an explicit
/// domain that was requested with plain, locks or one_lock.
///
/// Memory    allocated when an epoch first runs by a mechanism: 64 KiB of locks, 512 KiB of version
///           words
/// Throws    usage_error as decide()
/// Collective constructor.
class domain {
 public:
  /// opt        completed by with_settings()
  /// to_owners  the messages of its only operator go to the worker that owns the element
  explicit domain(world& w, const options& opt = {}, cells changed = cells::several,
                  bool to_owners = false);

  [[nodiscard]] world& of() noexcept { return world_; }
  /// The options, from the program and the settings.
  [[nodiscard]] const options& requested() const noexcept { return options_; }
  [[nodiscard]] const plan& choices() const noexcept { return plan_; }

  /// The mechanism of the current epoch, or of the last one if none is open; and the reason.
  [[nodiscard]] mechanism chosen_mechanism() const noexcept {
    return static_cast<mechanism>(now_.load(std::memory_order_acquire) & 0xff);
  }
  [[nodiscard]] std::string why() const { return plan_.why(chosen_mechanism(), counted()); }
  /// Whether the mechanism may change between epochs.
  [[nodiscard]] bool may_change_mechanism() const noexcept { return plan_.may_change_mechanism(); }
  /// Locks that the activities of this rank have taken by mechanism `locks`.
  [[nodiscard]] std::uint64_t locks_taken() const noexcept { return counted().stripes; }

  /// Registers one more operator on this data and returns its number. Called while no epoch is
  /// open.
  [[nodiscard]] std::size_t join() { return plan_.join(); }
  void leave(std::size_t op) noexcept { plan_.leave(op); }

  /// The mechanism of an epoch, which is the same for all workers. The first operator that asks
  /// determines it. Called by worker k, while the epoch is open.
  [[nodiscard]] mechanism mechanism_in(std::uint64_t epoch, std::size_t op, worker_t k) {
    const auto now = now_.load(std::memory_order_acquire);
    if (now >> 8 == epoch || !may_change_mechanism()) [[likely]]
      return static_cast<mechanism>(now & 0xff);
    return enter(epoch, op, k);
  }
  /// Records the operators that a span ran, and its measurements.
  void count_work(std::size_t op, worker_t k, std::uint64_t n, const span_work& measured) noexcept {
    plan_.count_work(op, k, n, measured);
  }

  /// Used by htm and one_lock.
  [[nodiscard]] tm::fallback_lock& fallback() noexcept { return fallback_; }
  /// nullptr until an epoch runs by mechanism `locks`, unless it is the only one.
  [[nodiscard]] tm::lock_table* locks() noexcept { return locks_.get(); }
  [[nodiscard]] tm::version_table<>* versions() noexcept { return versions_.get(); }
  /// The state shared by the emulated sections of all its operators; nullptr if nothing is
  /// emulated.
  [[nodiscard]] tm::emulation* emulation() noexcept { return emulation_.get(); }

  /// The transaction runner of worker k, created at its first call. Called by that worker.
  [[nodiscard]] rtm_sections& rtm(worker_t k);
  [[nodiscard]] emulated_sections& emulated(worker_t k);
  [[nodiscard]] software_sections& software(worker_t k);
  [[nodiscard]] tm::lock_set& lock_set(worker_t k);

  [[nodiscard]] relax_in relax() const noexcept { return {&world_.pool()}; }

  // Counted by worker k for its own activities.
  void count_activities(worker_t k, std::uint64_t n) noexcept { add(of_worker(k).committed, n); }
  void count_fallback(worker_t k) noexcept { add(of_worker(k).fallbacks, 1); }
  void count_stripes(worker_t k, std::uint64_t stripes) noexcept {
    add(of_worker(k).by_locks, 1);
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
    std::atomic<std::uint64_t> committed{0}, fallbacks{0}, by_locks{0}, stripes{0};
  };

  [[nodiscard]] worker_part& of_worker(worker_t k) noexcept { return parts_[k]; }
  static void add(std::atomic<std::uint64_t>& sum, std::uint64_t n) noexcept {
    sum.store(sum.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t seed_of(worker_t k) const noexcept;
  [[nodiscard]] activity_counts counted() const noexcept;
  void prepare(mechanism chosen);
  mechanism enter(std::uint64_t epoch, std::size_t op, worker_t k);

  world& world_;
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
