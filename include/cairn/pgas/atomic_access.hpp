// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cairn/tm/cell.hpp>

namespace cairn::pgas {

/// The kind of an access to one element.
enum class access : std::uint8_t {
  get,
  put,
  exchange,
  compare_exchange,
  add,
  minimum,
  maximum,
  take,
  fill
};

/// The type by which the bytes of an element are compared and added.
enum class number_kind : std::uint8_t { unsigned_integer, signed_integer, floating };

/// Element types with atomic operations: 1, 2, 4 or 8 bytes without padding.
template <class T>
concept atomic_element = tm::cell_value<T>;
/// Element types with sums, minima and maxima.
template <class T>
concept number_element = atomic_element<T> && std::is_arithmetic_v<T> && !std::same_as<T, bool>;

/// Whether elements of so many bytes are read and written indivisibly.
[[nodiscard]] constexpr bool is_word(std::size_t bytes) noexcept {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

namespace detail {

template <class T>
struct atomic_form {
  using type = tm::detail::word_of<T>;
};
template <number_element T>
struct atomic_form<T> {
  using type = T;
};
template <class T>
using atomic_form_of = typename atomic_form<T>::type;

}  // namespace detail

template <class T>
[[nodiscard]] constexpr number_kind kind_of() noexcept {
  if constexpr (std::is_floating_point_v<T>) return number_kind::floating;
  return std::is_signed_v<T> ? number_kind::signed_integer : number_kind::unsigned_integer;
}

/// Bytes of a value in the lowest bytes of a word.
template <class T>
requires(sizeof(T) <= 8) [[nodiscard]] std::uint64_t to_word(const T& x) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, &x, sizeof x);
  return word;
}
template <class T>
requires(sizeof(T) <= 8) [[nodiscard]] T from_word(std::uint64_t word) noexcept {
  T x;
  std::memcpy(&x, &word, sizeof x);
  return x;
}

template <class U>
struct operands {
  U x;
  U expected;  ///< of compare_exchange
};

/// One indivisible access to an element of 1, 2, 4 or 8 bytes; sequentially consistent.
///
/// Returns   what the element held before
template <class U>
requires(std::is_arithmetic_v<U>) U changed(access operation, U& element, operands<U> by)
noexcept {
  auto [x, expected] = by;
  const std::atomic_ref<U> cell(element);
  const auto loop = [&](auto&& next) {
    U found = cell.load();  // the only access if nothing changes
    for (;;) {
      const U wanted = next(found);
      if (tm::detail::same_bytes(wanted, found) || cell.compare_exchange_weak(found, wanted)) {
        return found;
      }
    }
  };
  switch (operation) {
    case access::exchange:
      return cell.exchange(x);
    case access::compare_exchange:
      cell.compare_exchange_strong(expected, x);
      return expected;
    case access::add:
      if constexpr (std::integral<U>) {
        return cell.fetch_add(x);
      } else {
        return loop([x](U found) { return static_cast<U>(found + x); });
      }
    case access::minimum:
      return loop([x](U found) { return x < found ? x : found; });
    case access::maximum:
      return loop([x](U found) { return found < x ? x : found; });
    default:
      return U{};
  }
}

/// The same for an element of `bytes` bytes whose type is known by its kind only.
std::uint64_t changed(access operation, number_kind kind, std::size_t bytes, void* element,
                      operands<std::uint64_t> by) noexcept;

struct copied_bytes {
  std::size_t in_all;  ///< a multiple of those of an element, if it is a word
  std::size_t per_element;
};

/// Copies elements out of or into memory that other workers may access: each element of 1, 2, 4 or
/// 8 bytes indivisibly, others byte by byte.
///
void load_elements(void* to, const void* elements, copied_bytes amount) noexcept;
void store_elements(void* elements, const void* from, copied_bytes amount) noexcept;

/// The same for one element of a type that is known.
template <class T>
[[nodiscard]] T load_element(const T& element) noexcept {
  if constexpr (is_word(sizeof(T))) {
    using word = typename tm::detail::word<sizeof(T)>::type;
    auto& cell = const_cast<word&>(reinterpret_cast<const word&>(element));
    return from_word<T>(std::atomic_ref<word>(cell).load(std::memory_order_acquire));
  } else if constexpr (sizeof(T) == 16 && alignof(T) >= 8) {
    // In registers of words, because one of the words is often the next index.
    auto* const at = const_cast<std::uint64_t*>(reinterpret_cast<const std::uint64_t*>(&element));
    const auto load = [at](std::size_t i) {
      return std::atomic_ref(at[i]).load(std::memory_order_relaxed);
    };
    return std::bit_cast<T>(std::array{load(0), load(1)});
  } else {
    return element;
  }
}
template <class T>
void store_element(T& element, const T& x) noexcept {
  if constexpr (is_word(sizeof(T))) {
    using word = typename tm::detail::word<sizeof(T)>::type;
    std::atomic_ref<word>(reinterpret_cast<word&>(element))
        .store(static_cast<word>(to_word(x)), std::memory_order_release);
  } else {
    std::memcpy(static_cast<void*>(&element), &x, sizeof x);
  }
}

}  // namespace cairn::pgas
