// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <cairn/base/types.hpp>

namespace cairn::task {

/// One T for each worker, each on its own cache lines.
template <class T>
class per_worker {
 public:
  explicit per_worker(int workers) : slots_(static_cast<std::size_t>(workers)) {}

  [[nodiscard]] T& operator[](worker_t k) noexcept {
    return slots_[static_cast<std::size_t>(k)].value;
  }
  [[nodiscard]] const T& operator[](worker_t k) const noexcept {
    return slots_[static_cast<std::size_t>(k)].value;
  }
  [[nodiscard]] int workers() const noexcept { return static_cast<int>(slots_.size()); }

  auto begin() noexcept { return slots_.begin(); }
  auto end() noexcept { return slots_.end(); }

 private:
  std::vector<padded<T>> slots_;
};

}  // namespace cairn::task
