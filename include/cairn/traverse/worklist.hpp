// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::traverse {

/// Pending elements of each worker, unordered, such as vertices to expand or messages to send.
///
/// Memory    the elements, twice while take() joins the lists of several workers
/// Thread-safety: worker k calls the functions with a parameter k; worker 0 calls size() at any
/// time and the others while no worker adds.
template <class T>
class worklist {
  struct part {
    std::vector<T> added, taken;
    std::atomic<std::size_t> size{0};  // of `added`, for other threads
    void count() noexcept { size.store(added.size(), std::memory_order_relaxed); }
  };

 public:
  explicit worklist(world& w) : w_(w), parts_(w.workers()) {}

  void add(worker_t k, const T& x) {
    auto& p = parts_[k];
    p.added.push_back(x);
    p.count();
    if (holds_) [[unlikely]]
      hold(k);
  }

  /// While this object exists, each element that is added holds the open epoch, which ends by
  /// try_close(), until it is released (am::epoch::release). Elements that were there before do
  /// not. Made before the epoch.
  class holding {
   public:
    explicit holding(worklist& list) : list_(list) { list_.holds_ = true; }
    ~holding() { list_.holds_ = false; }
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;

   private:
    worklist& list_;
  };

  [[nodiscard]] bool empty() {
    return shared_.empty() && std::all_of(parts_.begin(), parts_.end(),
                                          [](const auto& p) { return p.value.added.empty(); });
  }

  /// The number of elements, without those that other workers add meanwhile. Changes through own()
  /// are not counted.
  [[nodiscard]] std::uint64_t size() {
    std::uint64_t n = num_shared_.load(std::memory_order_relaxed);
    for (const auto& p : parts_) n += p.value.size.load(std::memory_order_relaxed);
    return n;
  }

  /// Removes and returns all elements. Valid until the next call. Outside loops.
  ///
  /// Throws    as pool::throw_if_interrupted if there are many elements
  [[nodiscard]] std::span<const T> take() {
    all_.clear();
    for (auto& p : parts_) {
      auto& added = p.value.added;
      if (all_.empty()) {
        std::swap(all_, added);
      } else {
        append(added);
      }
      added.clear();
      p.value.count();
    }
    append(shared_);  // what nobody has taken
    shared_.clear();
    num_shared_.store(0, std::memory_order_relaxed);
    return all_;
  }

  /// Removes and returns at most `max` of the elements that worker k has added, the last ones.
  /// Valid until worker k's next call.
  [[nodiscard]] std::span<const T> take_own(worker_t k, std::size_t max) {
    auto& p = parts_[k];
    p.taken.clear();
    if (p.added.size() <= max) {
      std::swap(p.taken, p.added);
    } else {
      const auto first = p.added.end() - static_cast<std::ptrdiff_t>(max);
      p.taken.assign(first, p.added.end());
      p.added.erase(first, p.added.end());
    }
    p.count();
    return p.taken;
  }

  /// As take_own(), but if worker k has none, of those that other workers shared.
  [[nodiscard]] std::span<const T> take_own_or_shared(worker_t k, std::size_t max) {
    auto& p = parts_[k];
    if (!p.added.empty() || num_shared_.load(std::memory_order_relaxed) == 0) {
      return take_own(k, max);
    }
    const std::scoped_lock held(sharing_);
    const auto n = std::min(max, shared_.size());
    p.taken.assign(shared_.end() - static_cast<std::ptrdiff_t>(n), shared_.end());
    shared_.erase(shared_.end() - static_cast<std::ptrdiff_t>(n), shared_.end());
    num_shared_.store(shared_.size(), std::memory_order_relaxed);
    return p.taken;
  }

  /// Gives others half of what worker k has added, at most a few thousand elements, if that is at
  /// least `enough` and they have taken all that was shared before.
  void share(worker_t k, std::size_t enough) {
    auto& p = parts_[k];
    if (p.added.size() < enough || w_.workers() == 1) return;
    if (num_shared_.load(std::memory_order_relaxed) != 0) return;
    const std::scoped_lock held(sharing_);
    const auto n = std::min<std::size_t>(p.added.size() / 2, 4096);
    const auto first = p.added.end() - static_cast<std::ptrdiff_t>(n);
    shared_.insert(shared_.end(), first, p.added.end());
    p.added.erase(first, p.added.end());
    p.count();
    num_shared_.store(shared_.size(), std::memory_order_relaxed);
  }

  /// The elements that worker k has added, modifiable in place.
  [[nodiscard]] std::vector<T>& own(worker_t k) { return parts_[k].added; }

 private:
  [[gnu::noinline]] void hold(worker_t k) { am::hold(w_, k); }

  void append(std::span<const T> added) {
    constexpr std::size_t piece = std::size_t{1} << 16;
    for (; added.size() > piece; added = added.subspan(piece)) {
      all_.insert(all_.end(), added.begin(), added.begin() + piece);
      w_.pool().throw_if_interrupted();
    }
    all_.insert(all_.end(), added.begin(), added.end());
  }

  world& w_;
  task::per_worker<part> parts_;
  std::vector<T> all_;
  bool holds_ = false;  // whether elements hold the open epoch
  task::spin_lock sharing_;
  std::vector<T> shared_;
  std::atomic<std::size_t> num_shared_{0};
};

}  // namespace cairn::traverse
