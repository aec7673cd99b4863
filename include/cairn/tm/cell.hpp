// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <cairn/base/contract.hpp>

namespace cairn::tm {

/// The value of a cell: one word of 1, 2, 4 or 8 bytes without padding, because a claim compares
/// bytes.
template <class T>
concept cell_value = std::is_trivially_copyable_v<T> && !std::is_const_v<T> &&
                     (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>)&&(
                         sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
concept addable = (std::integral<T> && !std::same_as<T, bool>) ||
                  (!std::integral<T> && requires(T x) {
                    { x + x } -> std::convertible_to<T>;
                  });

namespace detail {

template <std::size_t Bytes>
struct word;
template <>
struct word<1> {
  using type = std::uint8_t;
};
template <>
struct word<2> {
  using type = std::uint16_t;
};
template <>
struct word<4> {
  using type = std::uint32_t;
};
template <>
struct word<8> {
  using type = std::uint64_t;
};

template <cell_value T>
using word_of = typename word<sizeof(T)>::type;

template <cell_value T>
constexpr bool same_bytes(const T& a, const T& b) noexcept {
  return std::bit_cast<word_of<T>>(a) == std::bit_cast<word_of<T>>(b);
}

// Wraps around like the instruction; + on a signed or short integer would not.
template <addable T>
constexpr T sum(const T& a, const T& b) noexcept {
  if constexpr (std::integral<T>) {
    using unsigned_t = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<unsigned_t>(static_cast<unsigned_t>(a) + static_cast<unsigned_t>(b)));
  } else {
    return static_cast<T>(a + b);
  }
}

struct direct_access {
  static constexpr bool indivisible = false;
  template <cell_value T>
  [[gnu::always_inline]] static T load(T& cell) noexcept {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    // The relaxed load below, without g++'s detour through an integer register.
    if constexpr (std::same_as<T, float>) {
      T value;
      asm volatile("movss %1, %0" : "=x"(value) : "m"(cell));
      return value;
    } else if constexpr (std::same_as<T, double>) {
      T value;
      asm volatile("movsd %1, %0" : "=x"(value) : "m"(cell));
      return value;
    }
#endif
    return std::atomic_ref<T>(cell).load(std::memory_order_relaxed);
  }
  template <cell_value T>
  [[gnu::always_inline]] static void store(T& cell, const T& value) noexcept {
    std::atomic_ref<T>(cell).store(value, std::memory_order_relaxed);
  }
};

}  // namespace detail

// Access policies. Every load and store is a relaxed atomic access, a plain mov on x86 (DESIGN,
// memory model), so readers outside an activity may always load. The policies differ in how they
// exclude concurrent writers. A policy that is not `indivisible` also has store().

/// No exclusion: the cell has one writer.
struct plain_access : detail::direct_access {};

/// Exclusion by the running hardware transaction, or by a lock that is held.
struct section_access : detail::direct_access {};

/// Each verb is one atomic instruction, or a compare-and-swap loop.
struct atomic_access {
  static constexpr bool indivisible = true;
  template <cell_value T>
  [[gnu::always_inline]] static T load(T& cell) noexcept {
    return detail::direct_access::load(cell);
  }
};

/// Reads a cell that others may write concurrently. The result may be stale.
template <class T>
requires cell_value<T>
[[nodiscard, gnu::always_inline]] inline T load_cell(const T& cell) noexcept {
  return detail::direct_access::load(const_cast<T&>(cell));
}

/// One cell as an operator sees it. Each verb returns the previous value. A cell_ref is a pointer
/// and an access policy: pass it by value. The verbs throw only what the access throws.
template <cell_value T, class Access>
class cell_ref {
 public:
  using value_type = T;
  using access_type = Access;

  [[gnu::always_inline]] explicit cell_ref(T& cell, Access access = {}) noexcept
      : cell_(&cell), access_(access) {
    CAIRN_ASSERT(reinterpret_cast<std::uintptr_t>(&cell) % sizeof(T) == 0);
  }

  [[nodiscard, gnu::always_inline]] T load() const { return access_.load(*cell_); }

  /// Compare-and-swap: writes `desired` if the cell holds the bytes of `expected`. It took effect
  /// if the result equals `expected`.
  [[gnu::always_inline]] T claim(const T& expected, const T& desired) const {
    T found = load();
    // Most claims fail: a load leaves the line shared, a failed lock cmpxchg does not.
    if (!detail::same_bytes(found, expected)) return found;
    if constexpr (indivisible) {
      ref().compare_exchange_strong(found, desired, std::memory_order_relaxed);
    } else {
      access_.store(*cell_, desired);
    }
    return found;
  }

  /// Minimum: writes `x` if it is less than what the cell holds.
  [[gnu::always_inline]] T lower(const T& x) const requires requires { static_cast<bool>(x < x); }
  {
    T found = load();
    if constexpr (indivisible) {
      while (x < found && !ref().compare_exchange_weak(found, x, std::memory_order_relaxed)) {
      }
    } else {
      if (x < found) access_.store(*cell_, x);
    }
    return found;
  }

  /// Adds `x`; integers wrap around.
  [[gnu::always_inline]] T add(const T& x) const requires addable<T> {
    if constexpr (indivisible && std::integral<T>) {
      return ref().fetch_add(x, std::memory_order_relaxed);
    } else if constexpr (indivisible) {
      T found = load();
      while (
          !ref().compare_exchange_weak(found, detail::sum(found, x), std::memory_order_relaxed)) {
      }
      return found;
    } else {
      const T found = load();
      access_.store(*cell_, detail::sum(found, x));
      return found;
    }
  }

  /// Writes `x`.
  [[gnu::always_inline]] T exchange(const T& x) const {
    if constexpr (indivisible) {
      return ref().exchange(x, std::memory_order_relaxed);
    } else {
      const T found = load();
      access_.store(*cell_, x);
      return found;
    }
  }

 private:
  static constexpr bool indivisible = Access::indivisible;

  [[gnu::always_inline]] std::atomic_ref<T> ref() const noexcept {
    return std::atomic_ref<T>(*cell_);
  }

  T* cell_;
  [[no_unique_address]] Access access_;
};

}  // namespace cairn::tm
