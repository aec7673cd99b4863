// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn {

/// While it lives, SIGINT cancels the worlds that run in this process; then the action from before
/// is restored. A SIGINT that comes when no world runs yet cancels the first. Where SIGINT was
/// ignored it stays ignored.
///
/// Such objects nest; only the innermost acts. What a signal handler reaches is necessarily state
/// of the process, so one process runs one job at a time.
class interrupt_handler {
 public:
  /// What a second SIGINT does. `kills`: the default action, at once. `nothing`: another process
  /// sees to that.
  enum class second { kills, nothing };

  /// worlds   how many may run at a time, at most
  interrupt_handler(second then, std::size_t worlds);
  ~interrupt_handler();
  interrupt_handler(const interrupt_handler&) = delete;
  interrupt_handler& operator=(const interrupt_handler&) = delete;

  /// A world that is cancelled by SIGINT from here on.
  class interruptible {
   public:
    explicit interruptible(world& w);
    ~interruptible();
    interruptible(const interruptible&) = delete;
    interruptible& operator=(const interruptible&) = delete;

   private:
    std::atomic<world*>* slot_ = nullptr;
  };

 private:
  static void on_signal(int) noexcept;

  std::vector<std::atomic<world*>> worlds_;
  std::atomic<bool> came_{false};
  std::atomic<int> running_{0};  // handlers
  bool installed_ = false;
  struct sigaction before_ {};
  interrupt_handler* outer_;
};

}  // namespace cairn
