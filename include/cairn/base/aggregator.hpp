// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace cairn {

/// A commutative monoid over `value_type`: its values may be combined in any order and grouping.
/// The same aggregator reduces over ranks, over workers, and over messages.
///
/// combine(identity(), x) == x; combine is commutative and associative (floating-point sums up to
/// rounding). aggregator_laws.hpp checks these laws in tests.
template <class A>
concept aggregator = requires(const typename A::value_type& x) {
  { A::identity() } -> std::convertible_to<typename A::value_type>;
  { A::combine(x, x) } -> std::convertible_to<typename A::value_type>;
};

/// Combines x into `sum`, by A::combine_into(sum, x) if A has it, which need not copy `sum`.
template <aggregator A, class X>
constexpr void combine_into(typename A::value_type& sum, X&& x) {
  if constexpr (requires { A::combine_into(sum, std::forward<X>(x)); }) {
    A::combine_into(sum, std::forward<X>(x));
  } else {
    sum = A::combine(sum, std::forward<X>(x));
  }
}

/// A has include(sum, element...): it inserts one element into a collection, as if it combined the
/// collection with one that holds only that element.
template <class A, class... Element>
concept includes = aggregator<A> && requires(typename A::value_type& sum, const Element&... x) {
  A::include(sum, x...);
};

/// The aggregator of function objects: combines by Combine; the identity is Identity{}().
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
// Infinities for floating-point types.
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

namespace detail {
// Combines by A::combine_into; the identity is the empty collection.
template <class A, class Collection>
struct collecting {
  using value_type = Collection;
  static Collection identity() { return {}; }
  static Collection combine(const Collection& a, const Collection& b) {
    auto sum = a;
    A::combine_into(sum, b);
    return sum;
  }
};

// Moves the elements of the smaller set to the larger.
template <class Set>
struct union_of : collecting<union_of<Set>, Set> {
  static void combine_into(Set& all, Set more) {
    if (all.size() < more.size()) all.swap(more);
    all.merge(more);
  }
  static void include(Set& all, const typename Set::value_type& x) { all.insert(x); }
};
}  // namespace detail

/// Combines vectors element by element; identities extend the shorter one. include(sum, i, x)
/// combines x into element i.
template <aggregator A>
struct each_element : detail::collecting<each_element<A>, std::vector<typename A::value_type>> {
  using element = typename A::value_type;
  static void combine_into(std::vector<element>& sum, const std::vector<element>& b) {
    if (sum.size() < b.size()) sum.resize(b.size(), A::identity());
    for (std::size_t i = 0; i < b.size(); ++i) sum[i] = A::combine(sum[i], b[i]);
  }
  static void include(std::vector<element>& sum, std::size_t i, const element& x) {
    if (sum.size() <= i) sum.resize(i + 1, A::identity());
    sum[i] = A::combine(sum[i], x);
  }
};
/// Sums of vectors, also of histograms over 0, 1, 2, ...
template <class T>
using add_vectors = each_element<add<T>>;

/// Merges histograms over any keys by adding the counts of equal keys. include(sum, key) adds 1,
/// include(sum, key, count) adds `count`.
template <class Key, class Count = std::uint64_t>
struct merge_histograms : detail::collecting<merge_histograms<Key, Count>, std::map<Key, Count>> {
  static void combine_into(std::map<Key, Count>& sum, const std::map<Key, Count>& b) {
    for (const auto& [key, count] : b) sum[key] += count;
  }
  static void include(std::map<Key, Count>& sum, const Key& key, const Count& count = 1) {
    sum[key] += count;
  }
};

/// include(all, x) inserts x.
template <class T>
struct set_union : detail::union_of<std::set<T>> {};

/// Keeps duplicates. include(all, x) inserts one x.
template <class T>
struct bag_union : detail::union_of<std::multiset<T>> {};

}  // namespace cairn
