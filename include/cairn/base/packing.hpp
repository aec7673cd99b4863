// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn {

/// Converts a T to bytes and back: pack(bytes, value) appends the value, unpack(bytes) removes from
/// the front what one pack appended. Specialise it for your own types:
///
///   template <>
///   struct cairn::packing<words> {
///     static void pack(std::vector<std::byte>& to, const words& x) {
///       cairn::pack(to, x.names, x.total);
///     }
///     static words unpack(std::span<const std::byte>& from) {
///       return {cairn::unpack<names>(from), cairn::unpack<total>(from)};
///     }
///   };
///
/// A trivially copyable type is packed as its bytes; a view is not, because its elements are
/// elsewhere. A pair or a tuple is packed as its members. A collection is packed as the number of
/// its elements, in 8 bytes, and the elements: string, vector, set, map, and every type with size()
/// and insert(end(), element).
template <class T>
struct packing;

/// Types that can travel between ranks: trivially copyable, or composed of such types by a packing.
template <class T>
concept packable = requires(const T& x, std::vector<std::byte>& to,
                            std::span<const std::byte>& from) {
  packing<T>::pack(to, x);
  { packing<T>::unpack(from) } -> std::same_as<T>;
};

/// Appends the values in order.
template <packable... T>
void pack(std::vector<std::byte>& to, const T&... values) {
  (packing<T>::pack(to, values), ...);
}

/// Removes a value from the front of `from`.
///
/// Throws    contract_violation if `from` is shorter than what was packed
template <packable T>
[[nodiscard]] T unpack(std::span<const std::byte>& from) {
  return packing<T>::unpack(from);
}

/// The bytes of one value.
template <packable T>
[[nodiscard]] std::vector<std::byte> packed(const T& value) {
  std::vector<std::byte> bytes;
  pack(bytes, value);
  return bytes;
}

/// The value of packed(value).
///
/// Throws    contract_violation if the bytes are not those of one T
template <packable T>
[[nodiscard]] T unpacked(std::span<const std::byte> bytes) {
  T value = unpack<T>(bytes);
  CAIRN_EXPECTS(bytes.empty(), "bytes left over after the value");
  return value;
}

/// Appends `bytes` bytes from `data`, which may be nullptr if there are none. g++ 12 warns of
/// insert(), without reason.
inline void append_bytes(std::vector<std::byte>& to, const void* data, std::size_t bytes) {
  if (bytes == 0) return;
  const auto at = to.size();
  to.resize(at + bytes);
  std::memcpy(to.data() + at, data, bytes);
}

namespace detail {

struct byte_packing {};

inline std::span<const std::byte> take_bytes(std::span<const std::byte>& from, std::size_t bytes) {
  CAIRN_EXPECTS(bytes <= from.size(), "too few bytes for the value");
  const auto taken = from.first(bytes);
  from = from.subspan(bytes);
  return taken;
}

template <class T>
concept packed_as_bytes = std::is_trivially_copyable_v<T> && !std::ranges::borrowed_range<T>;

template <class C>
concept collection = !std::is_trivially_copyable_v<C> && std::default_initializable<C> &&
                     requires(C & c, const C& whole, typename C::value_type& x) {
  { whole.size() } -> std::convertible_to<std::size_t>;
  whole.begin() != whole.end();
  c.insert(c.end(), std::move(x));
};

// Collections with contiguous elements that are packed as their bytes: all are copied at once.
template <class C>
concept bytes_side_by_side = std::ranges::contiguous_range<C> &&
    std::default_initializable<typename C::value_type> &&
    std::derived_from<packing<typename C::value_type>, byte_packing> &&
    requires(C& c, std::size_t n) {
  c.resize(n);
};

}  // namespace detail

template <detail::packed_as_bytes T>
struct packing<T> : detail::byte_packing {
  static void pack(std::vector<std::byte>& to, const T& x) { append_bytes(to, &x, sizeof x); }
  static T unpack(std::span<const std::byte>& from) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), detail::take_bytes(from, sizeof(T)).data(), sizeof(T));
    return std::bit_cast<T>(bytes);
  }
};

template <packable A, packable B>
struct packing<std::pair<A, B>> {
  static void pack(std::vector<std::byte>& to, const std::pair<A, B>& x) {
    cairn::pack(to, x.first, x.second);
  }
  static std::pair<A, B> unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<A>(from), cairn::unpack<B>(from)};  // braces fix the order of evaluation
  }
};

// The elements of a map.
template <packable A, packable B>
struct packing<std::pair<const A, B>> {
  static void pack(std::vector<std::byte>& to, const std::pair<const A, B>& x) {
    cairn::pack(to, x.first, x.second);
  }
  static std::pair<const A, B> unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<A>(from), cairn::unpack<B>(from)};
  }
};

template <packable... T>
struct packing<std::tuple<T...>> {
  static void pack(std::vector<std::byte>& to, const std::tuple<T...>& x) {
    std::apply([&](const T&... member) { cairn::pack(to, member...); }, x);
  }
  static std::tuple<T...> unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<T>(from)...};
  }
};

template <detail::collection C>
requires packable<typename C::value_type>
struct packing<C> {
  using element = typename C::value_type;

  static void pack(std::vector<std::byte>& to, const C& all) {
    cairn::pack(to, std::uint64_t{all.size()});
    if constexpr (detail::bytes_side_by_side<C>) {
      append_bytes(to, all.data(), all.size() * sizeof(element));
    } else {
      for (const auto& x : all) packing<element>::pack(to, x);
    }
  }
  static C unpack(std::span<const std::byte>& from) {
    const auto size = cairn::unpack<std::uint64_t>(from);
    C all;
    if constexpr (detail::bytes_side_by_side<C>) {
      CAIRN_EXPECTS(size <= from.size() / sizeof(element), "too few bytes for the value");
      const auto bytes = detail::take_bytes(from, size * sizeof(element));
      all.resize(size);
      if (size != 0) std::memcpy(all.data(), bytes.data(), bytes.size());
    } else {
      for (std::uint64_t i = 0; i < size; ++i) all.insert(all.end(), cairn::unpack<element>(from));
    }
    return all;
  }
};

}  // namespace cairn
