// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
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
/// Thread-safety: worker k calls add(k, x) and take_own(k); worker 0 calls the others while no
/// worker adds.
template <class T>
class worklist {
  struct part {
    std::vector<T> added, taken;
  };

 public:
  explicit worklist(world& w) : parts_(w.workers()) {}

  void add(worker_t k, const T& x) { parts_[k].added.push_back(x); }

  [[nodiscard]] bool empty() {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const auto& p) { return p.value.added.empty(); });
  }

  [[nodiscard]] std::size_t size() {
    std::size_t n = 0;
    for (const auto& p : parts_) n += p.value.added.size();
    return n;
  }

  /// Removes and returns all elements. Valid until the next call.
  [[nodiscard]] std::span<const T> take() {
    all_.clear();
    for (auto& p : parts_) {
      auto& added = p.value.added;
      if (all_.empty()) {
        std::swap(all_, added);
      } else {
        all_.insert(all_.end(), added.begin(), added.end());
      }
      added.clear();
    }
    return all_;
  }

  /// Removes and returns the elements that worker k has added. Valid until worker k's next call.
  [[nodiscard]] std::span<const T> take_own(worker_t k) {
    auto& p = parts_[k];
    p.taken.clear();
    std::swap(p.taken, p.added);
    return p.taken;
  }

  /// The elements that worker k has added, modifiable in place.
  [[nodiscard]] std::vector<T>& own(worker_t k) { return parts_[k].added; }

 private:
  task::per_worker<part> parts_;
  std::vector<T> all_;
};

}  // namespace cairn::traverse
