// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace cairn {

/// A commutative monoid over `value_type`: what may be combined in any order and grouping.
/// The same aggregator reduces over ranks, over workers, and over messages.
///
/// combine(identity(), x) == x; combine is commutative and associative (floating sums up to
/// rounding). Check your own with aggregator_laws.hpp.
template <class A>
concept aggregator = requires(const typename A::value_type& x) {
  { A::identity() } -> std::convertible_to<typename A::value_type>;
  { A::combine(x, x) } -> std::convertible_to<typename A::value_type>;
};

/// The aggregator of a function object: folds by Combine, starting from Identity{}().
template <class T, class Combine, class Identity>
struct fold {
  using value_type = T;
  static constexpr T identity() { return Identity{}(); }
  static constexpr T combine(const T& a, const T& b) { return static_cast<T>(Combine{}(a, b)); }
};

namespace detail {
template <class T, auto Value>
struct constant {
  constexpr T operator()() const { return static_cast<T>(Value); }
};
// Of floating numbers the infinities.
template <class T>
struct largest {
  constexpr T operator()() const {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
};
template <class T>
struct lowest {
  constexpr T operator()() const {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
};
struct lesser {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return std::min(a, b);
  }
};
struct greater {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return std::max(a, b);
  }
};
}  // namespace detail

template <class T>
using add = fold<T, std::plus<>, detail::constant<T, 0>>;
template <class T>
using multiply = fold<T, std::multiplies<>, detail::constant<T, 1>>;
template <class T>
using minimum = fold<T, detail::lesser, detail::largest<T>>;
template <class T>
using maximum = fold<T, detail::greater, detail::lowest<T>>;

using logical_and = fold<bool, std::logical_and<>, detail::constant<bool, true>>;
using logical_or = fold<bool, std::logical_or<>, detail::constant<bool, false>>;
using logical_xor = fold<bool, std::not_equal_to<>, detail::constant<bool, false>>;

template <std::unsigned_integral T>
using bit_and = fold<T, std::bit_and<>, detail::largest<T>>;
template <std::unsigned_integral T>
using bit_or = fold<T, std::bit_or<>, detail::constant<T, 0>>;
template <std::unsigned_integral T>
using bit_xor = fold<T, std::bit_xor<>, detail::constant<T, 0>>;

/// A value and where it was found.
template <class T, class Place = std::uint64_t>
struct at_place {
  T value;
  Place place;
  friend constexpr bool operator==(const at_place&, const at_place&) = default;
};

/// The least value and its place; of equal values the least place.
template <class T, class Place = std::uint64_t>
struct minimum_at {
  using value_type = at_place<T, Place>;
  static constexpr value_type identity() {
    return {detail::largest<T>{}(), std::numeric_limits<Place>::max()};
  }
  static constexpr value_type combine(const value_type& a, const value_type& b) {
    return b.value < a.value || (b.value == a.value && b.place < a.place) ? b : a;
  }
};

/// The greatest value and its place; of equal values the least place.
template <class T, class Place = std::uint64_t>
struct maximum_at {
  using value_type = at_place<T, Place>;
  static constexpr value_type identity() {
    return {detail::lowest<T>{}(), std::numeric_limits<Place>::max()};
  }
  static constexpr value_type combine(const value_type& a, const value_type& b) {
    return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
  }
};

/// Combines vectors element by element; the shorter one is continued by identities.
template <aggregator A>
struct each_element {
  using value_type = std::vector<typename A::value_type>;
  static value_type identity() { return {}; }
  static value_type combine(const value_type& a, const value_type& b) {
    auto sum = a.size() < b.size() ? b : a;
    const auto& shorter = a.size() < b.size() ? a : b;
    for (std::size_t i = 0; i < shorter.size(); ++i) sum[i] = A::combine(a[i], b[i]);
    return sum;
  }
};
/// Sums of vectors: also of histograms over 0, 1, 2, ...
template <class T>
using add_vectors = each_element<add<T>>;

/// Merges histograms over any keys: counts of equal keys are added.
template <class Key, class Count = std::uint64_t>
struct merge_histograms {
  using value_type = std::map<Key, Count>;
  static value_type identity() { return {}; }
  static value_type combine(const value_type& a, const value_type& b) {
    auto sum = a;
    for (const auto& [key, count] : b) sum[key] += count;
    return sum;
  }
};

template <class T>
struct set_union {
  using value_type = std::set<T>;
  static value_type identity() { return {}; }
  static value_type combine(const value_type& a, const value_type& b) {
    auto all = a;
    all.insert(b.begin(), b.end());
    return all;
  }
};

/// Keeps every copy.
template <class T>
struct bag_union {
  using value_type = std::multiset<T>;
  static value_type identity() { return {}; }
  static value_type combine(const value_type& a, const value_type& b) {
    auto all = a;
    all.insert(b.begin(), b.end());
    return all;
  }
};

}  // namespace cairn
