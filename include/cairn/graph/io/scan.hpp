// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cairn::graph::io {

// Scanning of text. Every function may look at 16 bytes behind the end of the text; the first of
// them, where the text does not end with a newline, is zero (see mapped_file).

/// What stands at `at` cannot be used: thrown by scanners, caught where file and line are known.
struct text_fault {
  const char* at;
  std::string what;
};

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

[[nodiscard]] inline const char* skip_blanks(const char* p) noexcept {
  while (is_blank(*p)) ++p;
  return p;
}

/// Behind the newline that ends this line, or `end`.
[[nodiscard]] inline const char* next_line(const char* p, const char* end) noexcept {
  const void* const newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return newline == nullptr ? end : static_cast<const char*>(newline) + 1;
}

/// Behind the line's end if only blanks are left of it; nullptr if something else stands there.
[[nodiscard]] inline const char* end_of_line(const char* p, const char* end) noexcept {
  if (*p == '\n') return p + 1;
  p = skip_blanks(p);
  if (*p == '\r') ++p;
  if (*p == '\n') return p + 1;
  return p == end ? end : nullptr;
}

/// The word at p in quotation marks for a message: up to 24 bytes, others than ASCII as \xNN.
[[nodiscard]] std::string quoted(const char* p, const char* end);

/// "expected EXPECTED, found 'WORD'", as a fault at p.
[[noreturn]] void fail_expected(const char* p, const char* end, std::string_view expected);

/// A fault that says what is wrong with the word at p, which is no id.
[[noreturn]] void fail_id(const char* p, const char* end);

/// The number that the `digits` (1 .. 8) characters at p make, all of which are digits.
///
/// A shift drops what follows them, and three multiplications join neighbours: pairs, fours, all.
[[nodiscard]] inline std::uint64_t value_of_digits(const char* p, int digits) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t value = 0;
  std::memcpy(&value, p, sizeof value);
  value = (value ^ 0x3030303030303030u) << (64 - 8 * digits);
  value = (value * 10 + (value >> 8)) & 0x00ff00ff00ff00ffu;
  value = (value * 100 + (value >> 16)) & 0x0000ffff0000ffffu;
  return (value * 10000 + (value >> 32)) & 0xffffffffu;
}

namespace detail {

/// How many digits stand at p, up to 8.
///
/// Found all at once by a bit trick: no branch depends on the number's length, which in an edge
/// list changes all the time and would be mispredicted.
[[nodiscard]] inline int count_8_digits(const char* p) noexcept {
  std::uint64_t digits = 0;
  std::memcpy(&digits, p, sizeof digits);
  digits ^= 0x3030303030303030u;
  // Bytes above the first non-digit may be spoiled by its carry; they are not looked at.
  const std::uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  return others == 0 ? 8 : std::countr_zero(others) / 8;
}

/// The rest of a number at `start` whose first 8 digits are `high`.
const char* scan_long_id(const char* start, const char* end, std::uint64_t high,
                         std::uint64_t& value);

}  // namespace detail

/// Reads the decimal number at p and returns where it ends.
///
/// Throws    text_fault if no digit stands at p, or if the number is 2^64 - 1 or more.
inline const char* scan_id(const char* p, const char* end, std::uint64_t& value) {
  const int digits = detail::count_8_digits(p);
  if (digits == 0) [[unlikely]]
    fail_id(p, end);
  value = value_of_digits(p, digits);
  if (digits == 8 && is_digit(p[8])) [[unlikely]] {
    return detail::scan_long_id(p, end, value, value);
  }
  return p + digits;
}

/// Reads the weight at p as a whole number below 2^31 in size.
/// Returns   where it ends, or nullptr if it is another number (or none): see scan_real.
inline const char* scan_whole(const char* p, std::int32_t& value) noexcept {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const int digits = detail::count_8_digits(p);
  if (digits == 0) return nullptr;
  auto size = value_of_digits(p, digits);
  p += digits;
  for (; is_digit(*p); ++p) {
    if (size >= 1'000'000'000u) return nullptr;
    size = size * 10 + static_cast<std::uint64_t>(*p - '0');
  }
  if (size > 0x7fffffffu || *p == '.' || *p == 'e' || *p == 'E') return nullptr;
  value = negative ? -static_cast<std::int32_t>(size) : static_cast<std::int32_t>(size);
  return p;
}

/// Reads the weight at p as a finite number.
/// Throws    text_fault if none stands there.
const char* scan_real(const char* p, const char* end, double& value);

}  // namespace cairn::graph::io
