// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace cairn::graph::io {

// Text scanners. Every function may read 16 bytes after the end of the text. If the text does not
// end with a newline, the first of them is zero (see mapped_file).

/// Invalid text at `at`: thrown by scanners, caught where file and line are known.
struct text_fault {
  const char* at;
  std::string problem;
};

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

[[nodiscard]] inline const char* skip_blanks(const char* p) noexcept {
  while (is_blank(*p)) ++p;
  return p;
}

/// The position after the newline that ends this line, or `end`.
[[nodiscard]] inline const char* next_line(const char* p, const char* end) noexcept {
  const void* const newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return newline == nullptr ? end : static_cast<const char*>(newline) + 1;
}

/// The position after the line's end if the rest of the line is blank; else nullptr.
[[nodiscard]] inline const char* end_of_line(const char* p, const char* end) noexcept {
  if (*p == '\n') return p + 1;
  p = skip_blanks(p);
  if (*p == '\r') ++p;
  if (*p == '\n') return p + 1;
  return p == end ? end : nullptr;
}

/// The word at p in quotation marks for a message: up to 24 bytes, with unprintable ones as \xNN.
/// Without a word: "a blank" or "the end of the line".
[[nodiscard]] std::string quoted(const char* p, const char* end);

/// The rest of the line at p without the blanks around it, quoted in the same way: up to 60 bytes.
[[nodiscard]] std::string quoted_line(const char* p, const char* end);

/// Throws "expected EXPECTED, found 'WORD'" as a fault at p.
[[noreturn]] void fail_expected(const char* p, const char* end, std::string_view expected);

/// Throws a fault that describes the word at p, which is not an id.
[[noreturn]] void fail_id(const char* p, const char* end);

/// The value of the `digits` (1 .. 8) characters at p, all of which are digits.
///
/// A shift drops the characters after them. Three multiplications combine pairs, fours, all.
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

/// The number of digits at p, up to 8.
///
/// A bit trick without a branch on the number's length, which varies in an edge list and would be
/// mispredicted.
[[nodiscard]] inline int count_8_digits(const char* p) noexcept {
  std::uint64_t digits = 0;
  std::memcpy(&digits, p, sizeof digits);
  digits ^= 0x3030303030303030u;
  // The carry of the first non-digit may corrupt bytes above it; they are not used.
  const std::uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  return others == 0 ? 8 : std::countr_zero(others) / 8;
}

/// Continues the number at `start`, whose first 8 digits have the value `high`.
const char* scan_long_id(const char* start, const char* end, std::uint64_t high,
                         std::uint64_t& value);

}  // namespace detail

/// Reads the decimal number at p and returns the position after it.
///
/// Throws    text_fault if there is no digit at p, or if the number is 2^64 - 1 or more.
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

/// Reads the weight at p as an integer of magnitude below 2^31.
/// Returns   the position after it, or nullptr if the weight is not such an integer: see scan_real.
inline const char* scan_integer(const char* p, std::int32_t& value) noexcept {
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

/// Reads the finite number at p, which messages call `what`.
/// Throws    text_fault if there is none.
const char* scan_real(const char* p, const char* end, double& value,
                      std::string_view what = "weight");

}  // namespace cairn::graph::io
