// SPDX-License-Identifier: Apache-2.0
#include <cairn/pgas/atomic_access.hpp>

namespace cairn::pgas {
namespace {

template <class U>
std::uint64_t changed_as(access operation, void* element, std::uint64_t x, std::uint64_t expected) {
  return to_word(
      changed<U>(operation, *static_cast<U*>(element), from_word<U>(x), from_word<U>(expected)));
}

template <class U>
void load_words(std::byte* to, const std::byte* elements, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(U)) {
    const U x = load_element(reinterpret_cast<const U&>(elements[at]));
    std::memcpy(to + at, &x, sizeof x);
  }
}
template <class U>
void store_words(std::byte* elements, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(U)) {
    U x;
    std::memcpy(&x, from + at, sizeof x);
    store_element(reinterpret_cast<U&>(elements[at]), x);
  }
}

}  // namespace

std::uint64_t changed(access operation, number_kind kind, std::size_t bytes, void* element,
                      std::uint64_t x, std::uint64_t expected) noexcept {
  if (kind == number_kind::floating) {
    return bytes == sizeof(float) ? changed_as<float>(operation, element, x, expected)
                                  : changed_as<double>(operation, element, x, expected);
  }
  const bool is_signed = kind == number_kind::signed_integer;
  switch (bytes) {
    case 1:
      return is_signed ? changed_as<std::int8_t>(operation, element, x, expected)
                       : changed_as<std::uint8_t>(operation, element, x, expected);
    case 2:
      return is_signed ? changed_as<std::int16_t>(operation, element, x, expected)
                       : changed_as<std::uint16_t>(operation, element, x, expected);
    case 4:
      return is_signed ? changed_as<std::int32_t>(operation, element, x, expected)
                       : changed_as<std::uint32_t>(operation, element, x, expected);
    default:
      return is_signed ? changed_as<std::int64_t>(operation, element, x, expected)
                       : changed_as<std::uint64_t>(operation, element, x, expected);
  }
}

void load_elements(void* to, const void* elements, std::size_t bytes,
                   std::size_t element_bytes) noexcept {
  auto* const into = static_cast<std::byte*>(to);
  const auto* const from = static_cast<const std::byte*>(elements);
  switch (element_bytes) {
    case 1:
      return load_words<std::uint8_t>(into, from, bytes);
    case 2:
      return load_words<std::uint16_t>(into, from, bytes);
    case 4:
      return load_words<std::uint32_t>(into, from, bytes);
    case 8:
      return load_words<std::uint64_t>(into, from, bytes);
    default:
      std::memcpy(to, elements, bytes);
  }
}

void store_elements(void* elements, const void* from, std::size_t bytes,
                    std::size_t element_bytes) noexcept {
  auto* const into = static_cast<std::byte*>(elements);
  const auto* const source = static_cast<const std::byte*>(from);
  switch (element_bytes) {
    case 1:
      return store_words<std::uint8_t>(into, source, bytes);
    case 2:
      return store_words<std::uint16_t>(into, source, bytes);
    case 4:
      return store_words<std::uint32_t>(into, source, bytes);
    case 8:
      return store_words<std::uint64_t>(into, source, bytes);
    default:
      std::memcpy(elements, from, bytes);
  }
}

}  // namespace cairn::pgas
