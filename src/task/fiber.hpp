// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace cairn::task {

struct worker_context;

/// A stack to run on, and its saved state while another fiber runs.
///
/// Uses bare fcontext with the calls that the sanitizers need; Debian's Boost lacks the library
/// variant that makes them.
class fiber {
 public:
  /// The stack of the calling thread.
  fiber();
  /// A new stack with a guard page below, on which main(argument) will run. main must not return or
  /// throw.
  ///
  /// Throws    system_failure if there is no address space for the stack
  fiber(std::size_t stack_bytes, void (*main)(void*), void* argument);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Suspends the running fiber and continues `to`; returns when another fiber switches back. Each
  /// fiber keeps the exceptions that it is handling.
  void switch_to(fiber& to) noexcept;

 private:
  struct passage;
  static void arrive(fiber& self, const passage& from, void* context) noexcept;
  friend struct entry;

  void* context_ = nullptr;
  void (*main_)(void*) = nullptr;
  void* argument_ = nullptr;
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  // The runtime's list of exceptions being handled and count of those in flight. The runtime keeps
  // one per thread, but a destructor that waits (a world's) switches while one is in flight.
  std::array<std::byte, 16> exceptions_{};
  worker_context* task_context_ = nullptr;  // of the task that runs on it (worker_context.hpp)
  // For the sanitizers. stack_bottom_ is unknown for the thread's own stack until the first switch.
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace cairn::task
