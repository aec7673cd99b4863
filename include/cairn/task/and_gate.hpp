// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/task/event.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::task {

/// Opens when each of its inputs was set; co_await g waits for that. reset() closes it for another
/// round. An input that is set twice in a round counts once. Without inputs it is always open.
///
/// After a run that failed or was cancelled, a gate that its tasks waited for may only be
/// destroyed.
///
/// Source    HPX-5's local control objects; there an and-gate counts
class and_gate {
 public:
  explicit and_gate(std::size_t inputs) : is_set_(inputs), left_(inputs) {
    if (inputs == 0) open_.set();
  }

  /// Any thread.
  void set(std::size_t input) {
    bool last = false;
    {
      const std::lock_guard held(guard_);
      CAIRN_EXPECTS(input < is_set_.size(), "the gate has no such input");
      if (is_set_[input]) return;
      is_set_[input] = true;
      last = --left_ == 0;
    }
    if (last) open_.set();
  }
  /// Called when it is open and no task is about to wait for this round.
  void reset() {
    if (is_set_.empty()) return;  // without inputs it is always open
    open_.reset();
    const std::lock_guard held(guard_);
    CAIRN_EXPECTS(left_ == 0, "the gate is still closed");
    is_set_.assign(is_set_.size(), false);
    left_ = is_set_.size();
  }

  [[nodiscard]] auto operator co_await() noexcept { return open_.operator co_await(); }

 private:
  unpadded_spin_lock guard_;
  std::vector<bool> is_set_;
  std::size_t left_;
  event open_;
};

}  // namespace cairn::task
