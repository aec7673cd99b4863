// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace cairn::task {

/// A stack to run on, and what is kept of it while something else runs.
///
/// Bare fcontext with the calls that the sanitizers want; Debian's Boost lacks the variant of
/// its library that makes them.
class fiber {
 public:
  /// The stack of the thread that calls.
  fiber();
  /// A stack of its own, with a guard page below, on which main(argument) will run. main does
  /// not return and lets no exception out.
  ///
  /// Throws    system_failure if there is no address space for it
  fiber(std::size_t stack_bytes, void (*main)(void*), void* argument);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Stops here, in the running fiber, and goes on with `to`; returns when somebody switches
  /// back. Not from inside a catch block.
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
  // The runtime's list of exceptions being handled and count of those in flight: it keeps one
  // per thread, but a destructor that waits (a world's, say) switches while one is in flight.
  std::array<std::byte, 16> exceptions_{};
  // For the sanitizers. The first is of the thread's own stack until somebody has left it.
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
  void* tsan_fiber_ = nullptr;
};

}  // namespace cairn::task
