// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/base/types.hpp>
#include <cairn/tm/word_lock.hpp>

namespace cairn::tm {

/// The fallback lock of one domain: an activity that hardware cannot commit holds this lock, runs
/// alone and writes its cells in place.
///
/// Every transaction of the domain subscribes: it reads the lock first. If the lock is taken, the
/// transaction aborts. If it is taken later, that write conflicts with the read and aborts the
/// transaction. Without the read, a transaction could commit between two steps of the holder. The
/// lock has a cache line of its own, because any other write to its line would abort every
/// transaction.
class alignas(cache_line) fallback_lock {
 public:
  [[nodiscard]] bool taken() const noexcept { return lock_.taken(); }

  /// Holds the lock during its lifetime. `waited()`: another worker held the lock first.
  class guard {
   public:
    template <relax_function Relax>
    guard(fallback_lock& lock, Relax&& relax) : lock_(&lock.lock_), waited_(lock_->lock(relax)) {}
    ~guard() { lock_->unlock(); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    [[nodiscard]] bool waited() const noexcept { return waited_; }

   private:
    word_lock* lock_;
    bool waited_;
  };

  /// Returns when the lock was seen free. Called outside a transaction, before the next attempt.
  template <relax_function Relax>
  void wait_until_free(Relax&& relax) const {
    for (unsigned rounds = 0; taken();) relax(rounds++);
  }

 private:
  word_lock lock_;
};

static_assert(sizeof(fallback_lock) == cache_line);

}  // namespace cairn::tm
