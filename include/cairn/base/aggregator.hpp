// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

namespace cairn {

/// A commutative monoid over `value_type`: what may be combined in any order and grouping.
/// The same aggregator reduces over ranks, over workers, and over messages.
template <class A>
concept aggregator = requires(const typename A::value_type& x) {
  { A::identity() } -> std::convertible_to<typename A::value_type>;
  { A::combine(x, x) } -> std::convertible_to<typename A::value_type>;
};

template <class T>
struct add {
  using value_type = T;
  static constexpr T identity() { return T{}; }
  static constexpr T combine(const T& a, const T& b) { return a + b; }
};

template <class T>
struct minimum {
  using value_type = T;
  static constexpr T identity() { return std::numeric_limits<T>::max(); }
  static constexpr T combine(const T& a, const T& b) { return std::min(a, b); }
};

template <class T>
struct maximum {
  using value_type = T;
  static constexpr T identity() { return std::numeric_limits<T>::lowest(); }
  static constexpr T combine(const T& a, const T& b) { return std::max(a, b); }
};

struct logical_or {
  using value_type = bool;
  static constexpr bool identity() { return false; }
  static constexpr bool combine(bool a, bool b) { return a || b; }
};

}  // namespace cairn
