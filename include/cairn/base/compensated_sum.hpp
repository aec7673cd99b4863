// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn {

/// A sum that keeps the rounding error of each step, so that its total error does not grow with the
/// number of terms. Not for infinite terms.
///
/// Source [Neumaier74]
class compensated_sum {
 public:
  constexpr compensated_sum& operator+=(double x) noexcept {
    const double now = sum_ + x;
    const bool smaller = (x < 0 ? -x : x) <= (sum_ < 0 ? -sum_ : sum_);
    lost_ += smaller ? (sum_ - now) + x : (x - now) + sum_;
    sum_ = now;
    return *this;
  }
  constexpr compensated_sum& operator+=(const compensated_sum& other) noexcept {
    *this += other.sum_;
    lost_ += other.lost_;
    return *this;
  }
  [[nodiscard]] constexpr double value() const noexcept { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace cairn
