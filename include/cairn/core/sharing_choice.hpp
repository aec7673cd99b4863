// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace cairn {

/// Whether runs of one kind are faster on all workers or on one, from the times that they took.
///
/// Cache lines that several workers write travel between their caches, which may take longer than
/// a small run saves. The first runs follow a guess. The fourth and the sixth run go the other way;
/// the first runs of a process are slow either way. Then the faster way is chosen. The other way is
/// tried again after 8 runs, after 16 more and so on, because the load of the machine changes.
///
/// A pure state machine.
class sharing_choice {
 public:
  /// `kind` stands for runs that take similar time, such as searches in one graph; another kind
  /// begins anew. `guess` is the way of its first run. Returns whether the next run is shared.
  [[nodiscard]] bool next(std::uint64_t kind, bool guess) noexcept {
    if (runs_ == 0 || kind != kind_) *this = {};
    kind_ = kind;
    if (runs_++ < tried) return guess != (runs_ == 4 || runs_ == 6);
    const bool best = ns_[shared] < ns_[alone];
    if (runs_ < next_try_) return best;
    interval_ = std::min(2 * interval_, longest_interval);
    next_try_ = runs_ + interval_;
    return !best;
  }

  /// Reports a run's time, divided by its amount of work if runs differ in it.
  void took(bool was_shared, double ns) noexcept {
    auto& known = ns_[was_shared ? shared : alone];
    // A disturbance only makes a run slower, so one slow run proves little.
    known = known == 0 || ns < known ? ns : 0.75 * known + 0.25 * ns;
  }

 private:
  enum way { alone, shared };
  static constexpr std::uint64_t tried = 6, longest_interval = 512;
  std::uint64_t kind_ = 0, runs_ = 0, next_try_ = tried + 8, interval_ = 8;
  std::array<double, 2> ns_{};
};

}  // namespace cairn
