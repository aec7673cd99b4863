// SPDX-License-Identifier: Apache-2.0
#include <cairn/pgas/atomic_access.hpp>

namespace cairn::pgas {
namespace {

/// Calls f(U{}) with the unsigned integer U of so many bytes; returns false if there is none.
template <class F>
bool with_word_type(std::size_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      f(std::uint8_t{});
      return true;
    case 2:
      f(std::uint16_t{});
      return true;
    case 4:
      f(std::uint32_t{});
      return true;
    case 8:
      f(std::uint64_t{});
      return true;
    default:
      return false;
  }
}

template <class U>
std::uint64_t changed_as(access operation, void* element, operands<std::uint64_t> by) {
  return to_word(changed<U>(operation, *static_cast<U*>(element),
                            {from_word<U>(by.x), from_word<U>(by.expected)}));
}

}  // namespace

std::uint64_t changed(access operation, number_kind kind, std::size_t bytes, void* element,
                      operands<std::uint64_t> by) noexcept {
  if (kind == number_kind::floating) {
    return bytes == sizeof(float) ? changed_as<float>(operation, element, by)
                                  : changed_as<double>(operation, element, by);
  }
  std::uint64_t found = 0;
  with_word_type(bytes, [&]<class U>(U) {
    found = kind == number_kind::signed_integer
                ? changed_as<std::make_signed_t<U>>(operation, element, by)
                : changed_as<U>(operation, element, by);
  });
  return found;
}

void load_elements(void* to, const void* elements, copied_bytes amount) noexcept {
  const bool words = with_word_type(amount.per_element, [&]<class U>(U) {
    for (std::size_t at = 0; at < amount.in_all; at += sizeof(U)) {
      const U x =
          load_element(*reinterpret_cast<const U*>(static_cast<const std::byte*>(elements) + at));
      std::memcpy(static_cast<std::byte*>(to) + at, &x, sizeof x);
    }
  });
  if (!words) std::memcpy(to, elements, amount.in_all);
}

void store_elements(void* elements, const void* from, copied_bytes amount) noexcept {
  const bool words = with_word_type(amount.per_element, [&]<class U>(U) {
    for (std::size_t at = 0; at < amount.in_all; at += sizeof(U)) {
      U x;
      std::memcpy(&x, static_cast<const std::byte*>(from) + at, sizeof x);
      store_element(*reinterpret_cast<U*>(static_cast<std::byte*>(elements) + at), x);
    }
  });
  if (!words) std::memcpy(elements, from, amount.in_all);
}

}  // namespace cairn::pgas
