// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::traverse {

/// Pending elements of each worker, unordered, such as vertices to expand or messages to send.
///
/// Memory    the elements, twice while take() joins the lists of several workers
/// Thread-safety: worker k calls add(k, x) and take_own(k, max); worker 0 calls size() at any time
/// and the others while no worker adds.
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
  }

  [[nodiscard]] bool empty() {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const auto& p) { return p.value.added.empty(); });
  }

  /// The number of elements, without those that other workers add meanwhile. Changes through own()
  /// are not counted.
  [[nodiscard]] std::uint64_t size() {
    std::uint64_t n = 0;
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

  /// The elements that worker k has added, modifiable in place.
  [[nodiscard]] std::vector<T>& own(worker_t k) { return parts_[k].added; }

 private:
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
};

}  // namespace cairn::traverse
