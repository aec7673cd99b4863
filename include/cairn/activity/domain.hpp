// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/core/world.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

/// Data that multi-cell activities share on this rank, and the one mechanism that makes them
/// atomic. Operators that touch a map together belong to the same domain.
///
///   plain   the rank has one worker
///   htm     transactions that subscribe to the domain's fallback lock
///   locks   the elements' locks, sorted
///   automatic: plain with one worker, htm where the machine has it, else locks
///
/// Where htm is asked for and the machine has none, locks take its place.
/// Throws    usage_error if asked for plain with several workers, or for atomics, which cannot
///           make several cells change at once
/// Collective constructor.
class domain {
 public:
  explicit domain(world& w, const options& opt = {});

  [[nodiscard]] world& of() noexcept { return world_; }
  [[nodiscard]] const options& chosen() const noexcept { return options_; }
  [[nodiscard]] tm::fallback_lock& fallback() noexcept { return fallback_; }
  [[nodiscard]] tm::lock_table& locks() noexcept { return locks_; }

 private:
  world& world_;
  options options_;
  tm::fallback_lock fallback_;
  tm::lock_table locks_;
};

}  // namespace cairn::activity
