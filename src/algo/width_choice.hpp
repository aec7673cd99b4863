// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace cairn::algo {

/// The factor by which the buckets of a search are widened, chosen from the relaxations that
/// earlier searches in the graph wasted. Narrow buckets cost time, because batches are short and
/// workers wait for each other. Wide buckets waste relaxations; how many depends on the graph.
///
/// The factor doubles after each search that wasted little. If the wider buckets waste much, it is
/// halved again. Then it is kept.
///
/// A pure state machine.
/// Source    ours
class width_choice {
 public:
  [[nodiscard]] double factor() const noexcept { return std::ldexp(1, level_); }
  /// Whether the report of a search with so many relaxations may change the factor.
  [[nodiscard]] bool learns_from(std::uint64_t relaxations) const noexcept {
    return !settled_ && relaxations >= few;
  }

  /// Reports a search with factor().
  void report(std::uint64_t relaxations, std::uint64_t wasted) noexcept {
    if (!learns_from(relaxations)) return;
    const auto share = static_cast<double>(wasted) / static_cast<double>(relaxations);
    settled_ = share >= little || level_ == widest;
    if (!settled_) {
      ++level_;
    } else if (share >= much && level_ > 0) {
      --level_;
    }
  }

 private:
  static constexpr std::uint64_t few = 10'000;
  static constexpr int widest = 4;
  static constexpr double little = 0.015, much = 0.04;
  int level_ = 0;
  bool settled_ = false;
};

}  // namespace cairn::algo
