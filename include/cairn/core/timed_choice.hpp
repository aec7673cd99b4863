// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <cairn/base/contract.hpp>

namespace cairn {

/// Chooses between ways to run the same work, such as on all workers or on one, by the times that
/// earlier runs took.
///
/// The first four runs follow the first way, then three each other one: the first run in a way
/// finds cold caches. Then the fastest way is chosen. One of the others, in turn, is tried twice
/// after 8 runs, after 16 more and so on, because the load of the machine changes. Only runs whose
/// times are reported count.
///
/// A pure state machine.
class timed_choice {
 public:
  static constexpr std::size_t max_ways = 3;

  /// kind      stands for runs that take similar time, such as searches in one graph; another kind
  ///           begins anew, and so does another number of ways
  /// ways      names of the ways, the probably fastest first; 1 to max_ways
  /// Returns   the way of the next run, the same until a run is reported
  [[nodiscard]] int next(std::uint64_t kind, std::span<const int> ways) noexcept {
    CAIRN_ASSERT(!ways.empty() && ways.size() <= max_ways);
    if (runs_ == 0 || kind != kind_ || ways.size() != num_ways_) {
      const auto fixed = fixed_;
      *this = {};
      fixed_ = fixed;
      kind_ = kind;
      num_ways_ = ways.size();
    }
    return fixed_.value_or(ways[at_]);
  }

  /// Reports the time of the run that went the way of next(), divided by its amount of work if runs
  /// differ in it.
  void took(double ns) noexcept {
    auto& known = ns_[at_];
    // A disturbance only makes a run slower, so one slow run proves little, however slow it is: it
    // adds at most an eighth. Otherwise the way would be left until its next try.
    known = known == 0 || ns < known ? ns : 0.75 * known + 0.25 * std::min(ns, 1.5 * known);
    ++runs_;
    const auto first_runs = 1 + runs_of_each * num_ways_;
    if (runs_ < first_runs) {
      at_ = (runs_ - 1) / runs_of_each;
      return;
    }
    if (next_try_ == 0) next_try_ = first_runs + interval_;
    if (runs_ == next_try_ + 1) return;  // once more
    const auto best = static_cast<std::size_t>(
        std::min_element(ns_.begin(), ns_.begin() + num_ways_) - ns_.begin());
    at_ = runs_ == next_try_ ? other_than(best) : best;
    if (runs_ <= next_try_) return;
    interval_ = std::min(2 * interval_, longest_interval);
    next_try_ = runs_ + interval_;
  }

  /// From now on all runs go this way, for tests.
  void fix(int way) noexcept { fixed_ = way; }

 private:
  static constexpr std::uint64_t runs_of_each = 3, longest_interval = 512;

  std::size_t other_than(std::size_t best) noexcept {
    tried_ = (tried_ + 1) % num_ways_;
    if (tried_ == best) tried_ = (tried_ + 1) % num_ways_;
    return tried_;
  }

  std::uint64_t kind_ = 0, runs_ = 0, interval_ = 8, next_try_ = 0;
  std::size_t num_ways_ = 1, at_ = 0, tried_ = 0;  // indices of ways
  std::array<double, max_ways> ns_{};
  std::optional<int> fixed_;
};

}  // namespace cairn
