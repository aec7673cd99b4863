// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn {

/// During its lifetime SIGINT cancels the worlds that run in this process; afterwards the previous
/// action is restored. A SIGINT before any world runs cancels the first one. An ignored SIGINT
/// stays ignored.
///
/// A signal handler reaches only process-wide state. Of several such objects, in one thread or in
/// several, only the first is active; the others have no effect.
class interrupt_handler {
 public:
  /// The effect of a second SIGINT. `kills`: the default action, at once. `nothing`: another
  /// process handles it.
  enum class second { kills, nothing };

  /// worlds   maximum number of worlds that run at a time
  interrupt_handler(second then, std::size_t worlds);
  ~interrupt_handler();
  interrupt_handler(const interrupt_handler&) = delete;
  interrupt_handler& operator=(const interrupt_handler&) = delete;

  /// Registers a world that SIGINT cancels during this object's lifetime, if the handler is active.
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
