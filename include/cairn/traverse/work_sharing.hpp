// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::traverse {

/// How a worker of ordered_work receives entries from the others of its rank: what they read and
/// write of it.
///
///   receiver                     giver
///   request_from(giver)
///                                requester()
///                                answer_requester(entries): hold, the entries, the flag
///   has_answered(giver)
///   take_given(): the entries go to its queue, which holds the epoch from then on
///
/// The receiver does not wait: it may find the entries later, when it has others, and request
/// from another giver meanwhile. Entries that are given hold the epoch until then.
///
/// Entry     trivially copyable
/// Atomic    std::atomic; tests substitute one whose every access is a step of a schedule, and Lock
/// Thread-safety: functions that are not const are called by the object's worker, but for clear()
template <class Entry, template <class> class Atomic = std::atomic, class Lock = task::spin_lock>
class alignas(cache_line) work_sharing {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no bucket

  /// Before a run; no worker does anything. The epoch of an earlier run that failed holds nothing
  /// any more, so what was given there goes to the queue: push(entry).
  template <class Push>
  void clear(Push&& push) {
    bool queue_holds = true;
    take_given(queue_holds, push, [](std::uint64_t) {});
    requested_by_.store(nullptr, std::memory_order_relaxed);
    show(none);
  }

  /// The worker's first bucket, as it has last shown it.
  [[nodiscard]] std::uint64_t bucket() const noexcept {
    return bucket_.load(std::memory_order_relaxed);
  }
  void show(std::uint64_t bucket) noexcept { bucket_.store(bucket, std::memory_order_relaxed); }

  /// Requests work from another worker. Returns false if someone has requested work from it before
  /// and has no answer.
  [[nodiscard]] bool request_from(work_sharing& giver) {
    work_sharing* nobody = nullptr;
    return giver.requested_by_.compare_exchange_strong(nobody, this, std::memory_order_acq_rel);
  }
  [[nodiscard]] bool has_answered(const work_sharing& giver) const noexcept {
    return giver.requested_by_.load(std::memory_order_acquire) != this;
  }

  /// Who requests work from this worker, or nullptr.
  [[nodiscard]] work_sharing* requester() const noexcept {
    return requested_by_.load(std::memory_order_acquire);
  }
  /// Gives the entries to the requester, which exists, and empties the vector. No entries are an
  /// answer, too.
  ///
  /// hold      called if there are any: holds the epoch once more
  template <class Hold>
  void answer_requester(std::vector<Entry>& entries, Hold&& hold) {
    if (!entries.empty()) {
      hold();
      requester()->receive(entries);
    }
    requested_by_.store(nullptr, std::memory_order_release);
  }

  /// Takes what was given to this worker. Returns whether there was anything.
  ///
  /// queue_holds  whether its queue holds the epoch, as it does afterwards
  /// push         called for each entry: adds it to the queue
  /// release      called with the number of holds that are no longer needed
  template <class Push, class Release>
  bool take_given(bool& queue_holds, Push&& push, Release&& release) {
    if (!has_given_.load(std::memory_order_acquire)) return false;
    const std::lock_guard held(lock_);
    for (const auto& e : given_) push(e);
    given_.clear();
    has_given_.store(false, std::memory_order_relaxed);
    if (!std::exchange(queue_holds, true)) --given_holds_;
    release(std::exchange(given_holds_, 0));
    return true;
  }

 protected:  // for the broken twins of tests
  void receive(std::vector<Entry>& entries) {
    const std::lock_guard held(lock_);
    given_.insert(given_.end(), entries.begin(), entries.end());
    entries.clear();
    given_holds_ += 1;
    has_given_.store(true, std::memory_order_release);
  }

  Atomic<std::uint64_t> bucket_{none};
  Atomic<work_sharing*> requested_by_{nullptr};
  Atomic<bool> has_given_{false};
  Lock lock_;
  std::vector<Entry> given_;
  std::uint64_t given_holds_ = 0;  // holds of the epoch by given_
};

}  // namespace cairn::traverse
