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
/// What a signal handler reaches is necessarily state of the process: of several such objects, in
/// one thread or in several, only the first acts. The others change nothing.
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

  /// A world that is cancelled by SIGINT while this lives, if the handler acts.
  class interruptible {
   public:
    interruptible(interrupt_handler& handler, world& w);
    ~interruptible();
    interruptible(const interruptible&) = delete;
    interruptible& operator=(const interruptible&) = delete;

   private:
    std::atomic<world*>* slot_;
  };

 private:
  static void on_signal(int) noexcept;

  std::vector<std::atomic<world*>> worlds_;
  std::atomic<bool> came_{false};
  bool acts_ = false;
  struct sigaction before_ {};
};

}  // namespace cairn
