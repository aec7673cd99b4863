// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace cairn {

/// In which of two ways, false and true, runs of one kind are faster, from the times that they
/// took.
///
/// Three runs follow a guess, the next three go the other way: the first run in a way finds cold
/// caches. Then the faster way is chosen. The other way is tried twice after 7 runs, after 15 more
/// and so on, because the load of the machine changes.
///
/// A pure state machine.
class timed_choice {
 public:
  /// `kind` stands for runs that take similar time, such as searches in one graph; another kind
  /// begins anew. `guess` is the way of its first run. Returns the way of the next run.
  [[nodiscard]] bool next(std::uint64_t kind, bool guess) noexcept {
    if (runs_ == 0 || kind != kind_) *this = {};
    kind_ = kind;
    if (++runs_ <= 2 * first_runs) return guess != (runs_ > first_runs);
    const bool best = ns_[1] < ns_[0];
    if (runs_ < next_try_) return best;
    if (tries_++ == 0) tried_ = !best;
    if (tries_ < tries_at_once) return tried_;
    tries_ = 0;
    interval_ = std::min(2 * interval_, longest_interval);
    next_try_ = runs_ + interval_;
    return tried_;
  }

  /// Reports a run's time, divided by its amount of work if runs differ in it.
  void took(bool way, double ns) noexcept {
    auto& known = ns_[way ? 1 : 0];
    // A disturbance only makes a run slower, so one slow run proves little.
    known = known == 0 || ns < known ? ns : 0.75 * known + 0.25 * ns;
  }

 private:
  static constexpr std::uint64_t first_runs = 3, tries_at_once = 2, longest_interval = 512;
  std::uint64_t kind_ = 0, runs_ = 0, next_try_ = 2 * first_runs + 8, interval_ = 8, tries_ = 0;
  bool tried_ = false;
  std::array<double, 2> ns_{};  // by way
};

}  // namespace cairn
