// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/base/types.hpp>
#include <cairn/tm/spin_lock.hpp>

namespace cairn::tm {

/// The net under the hardware transactions of one domain: an activity that hardware cannot
/// commit runs alone, holding this lock, and writes its cells in place.
///
/// Every transaction of the domain subscribes: it reads the lock first. If the lock is taken it
/// leaves; if it is taken later, that write is a conflict with the read and aborts it. Without
/// the read, a transaction could commit between two steps of the holder. The lock has its cache
/// line to itself: anything else written on it would abort every transaction.
class alignas(cache_line) fallback_lock {
 public:
  [[nodiscard]] bool taken() const noexcept { return lock_.taken(); }

  /// Holds the lock while it lives. `waited()`: somebody else held it when we came.
  class guard {
   public:
    template <relax_function Relax>
    guard(fallback_lock& lock, Relax&& relax) : lock_(&lock.lock_), waited_(lock_->lock(relax)) {}
    ~guard() { lock_->unlock(); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    [[nodiscard]] bool waited() const noexcept { return waited_; }

   private:
    spin_lock* lock_;
    bool waited_;
  };

  /// Returns when the lock was seen free: outside a transaction, before the next attempt.
  template <relax_function Relax>
  void wait_until_free(Relax&& relax) const {
    for (unsigned rounds = 0; taken();) relax(rounds++);
  }

 private:
  spin_lock lock_;
};

static_assert(sizeof(fallback_lock) == cache_line);

}  // namespace cairn::tm
