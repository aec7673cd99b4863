// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace cairn::algo {

/// By which factor the buckets of a search are widened, from the relaxations that earlier searches
/// in the graph wasted. Narrow buckets cost time, because batches are short and workers wait for
/// each other. Wide buckets waste relaxations; how many depends on the graph.
///
/// The factor doubles after each search that wasted little. If the wider buckets waste much, it is
/// halved again. Then it is kept.
///
/// A pure state machine.
/// Source    ours
class width_choice {
 public:
  [[nodiscard]] double factor() const noexcept { return std::ldexp(1, level_); }
  /// Whether another search is to be judged.
  [[nodiscard]] bool learns() const noexcept { return !settled_; }

  /// Reports a search with factor(). Searches with few relaxations are ignored.
  void took(std::uint64_t relaxations, std::uint64_t wasted) noexcept {
    if (settled_ || relaxations < few) return;
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
