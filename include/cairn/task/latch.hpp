// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include <cairn/base/contract.hpp>
#include <cairn/task/event.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::task {

/// co_await l resumes once count_down() was called n times. Used once. A task that has waited may
/// destroy it. After a run that failed or was cancelled, a latch that its tasks waited for may only
/// be destroyed.
class latch {
 public:
  explicit latch(std::uint64_t n) : left_(n) {
    if (n == 0) open_.set();
  }

  /// Any thread.
  /// Throws    contract_violation if the remaining count is less than n
  void count_down(std::uint64_t n = 1) {
    bool last = false;
    {
      const std::lock_guard held(guard_);
      CAIRN_EXPECTS(n <= left_, "a latch cannot count below zero");
      left_ -= n;
      last = left_ == 0;
    }
    if (last) open_.set();
  }

  [[nodiscard]] auto operator co_await() noexcept { return open_.operator co_await(); }

 private:
  unpadded_spin_lock guard_;
  std::uint64_t left_;
  event open_;
};

}  // namespace cairn::task
