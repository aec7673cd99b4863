// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace cairn::task {

/// Chooses how many tasks of a worker wait for cache lines at once, from what resumptions cost.
///
/// A round measures the present number and its neighbors in turn, three batches each; a disturbed
/// batch only takes longer, so the fastest of the three counts. If a neighbor is faster by more
/// than 3 %, the tuner moves there and begins another round. Otherwise it rests, twice as long as
/// before, up to 4,096 batches: so it costs nothing in the long run, and follows a change.
///
/// Pure: no clock inside. The first batch after each change is not measured, because as many tasks
/// as before still wait.
class in_flight_tuner {
 public:
  static constexpr std::array<std::size_t, 8> candidates{8, 16, 24, 32, 48, 64, 96, 128};
  static constexpr std::size_t first_choice = 3;

  /// For the next batch.
  [[nodiscard]] std::size_t number() const noexcept { return candidates[measured_]; }
  /// Whether the cost of the next batch is wanted.
  [[nodiscard]] bool wants_cost() const noexcept { return resting_ == 0; }

  /// A batch of number() tasks in flight has ended. cost   per resumption, in any unit
  void took(double cost) noexcept {
    if (resting_ > 0) {
      if (--resting_ == 0) begin_round();
      return;
    }
    if (settles_) {
      settles_ = false;
      return;
    }
    best_[measured_] = std::min(best_[measured_], cost);
    next_turn();
  }

 private:
  static constexpr int turns = 3;
  static constexpr std::uint32_t longest_rest = 4096, first_rest = 64;
  static constexpr double clearly = 0.97;

  [[nodiscard]] std::size_t first() const noexcept { return chosen_ == 0 ? 0 : chosen_ - 1; }
  [[nodiscard]] std::size_t last() const noexcept {
    return std::min(chosen_ + 1, candidates.size() - 1);
  }
  void measure(std::size_t candidate) noexcept {
    settles_ = candidate != measured_;
    measured_ = candidate;
  }
  void begin_round() noexcept {
    best_.fill(std::numeric_limits<double>::infinity());
    turn_ = 0;
    measure(first());
  }
  void next_turn() noexcept {
    if (measured_ < last()) return measure(measured_ + 1);
    if (++turn_ < turns) return measure(first());
    end_round();
  }
  void end_round() noexcept {
    auto best = chosen_;
    for (auto i = first(); i <= last(); ++i) {
      if (best_[i] < clearly * best_[chosen_] && best_[i] < best_[best]) best = i;
    }
    if (best != chosen_) {
      chosen_ = best;
      rest_ = first_rest;
      return begin_round();
    }
    measure(chosen_);
    resting_ = rest_;
    rest_ = std::min(2 * rest_, longest_rest);
  }

  std::array<double, candidates.size()> best_{};
  std::size_t chosen_ = first_choice, measured_ = first_choice;
  int turn_ = 0;
  std::uint32_t resting_ = 1, rest_ = first_rest;
  bool settles_ = false;
};

}  // namespace cairn::task
