// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/base/types.hpp>
#include <cairn/task/promise.hpp>

namespace cairn::pgas {

/// The reason why an owner refused an access.
enum class access_fault : std::uint8_t {
  none,
  no_array,       ///< freed, or never allocated
  out_of_range,   ///< beyond the owner's part
  no_full_empty,  ///< the array was allocated without full/empty elements
  freed_meanwhile,
  stopped  ///< the owner has stopped, and the task will be destroyed: never reported
};

[[noreturn, gnu::cold]] void throw_fault(access_fault fault);
/// Throws    contract_violation unless `fault` is none
inline void expect_no_fault(access_fault fault) {
  if (fault != access_fault::none) [[unlikely]]
    throw_fault(fault);
}

/// The state that operations of one task share: how many are not answered, and the task that waits
/// for the last answer. It lies in the awaiter of one operation, or in a group of non-blocking ones
/// (pending_operations). Used by one worker.
struct completion {
  task::suspended waiter;
  std::uint32_t outstanding = 0;
  access_fault fault = access_fault::none;  // one of those that occurred
  bool waits = false;                       // resume the waiter after the last answer
  bool is_group = false;
  bool continues = false;  // it is a portion_completion

  void wait_as(task::suspended t) noexcept {
    waiter = t;
    waits = true;
  }
};

/// The completion of one portion of an operation that sends its questions in portions.
struct portion_completion : completion {
  /// Called by the worker after the last answer: sends the next portion, if there is one. Returns
  /// whether the operation has ended; then the waiter is resumed.
  bool (*next)(portion_completion&, worker_t) noexcept = nullptr;
};

/// The completion of a group. It lives until its last answer has come, also if its owner, in the
/// frame of a task, ends earlier. The groups of a worker form a ring, so that the memory can end
/// those whose answers never come.
struct group_completion : completion {
  group_completion() noexcept { is_group = true; }
  group_completion(const group_completion&) = delete;
  group_completion& operator=(const group_completion&) = delete;
  ~group_completion() {
    previous->next = next;
    next->previous = previous;
  }
  void join(group_completion& ring) noexcept {
    previous = &ring;
    next = ring.next;
    ring.next->previous = this;
    ring.next = this;
  }
  void leave() noexcept {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
  /// Called when its owner ends.
  void abandon() noexcept {
    abandoned = true;
    outstanding -= discarded;
    if (outstanding == 0 || previous == this) delete this;
  }

  group_completion* previous = this;
  group_completion* next = this;
  std::uint32_t discarded = 0;  // answers that did not count: their change was discarded
  bool abandoned = false;
};

}  // namespace cairn::pgas
