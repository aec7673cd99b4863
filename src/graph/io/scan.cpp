// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <system_error>

#include <cairn/graph/io/scan.hpp>

namespace cairn::graph::io {
namespace {

constexpr std::ptrdiff_t max_quoted = 24;       // of a word
constexpr std::ptrdiff_t max_quoted_line = 60;  // of a line

const char* end_of_word(const char* p, const char* end) {
  const char* const start = p;
  while (p != end && !is_blank(*p) && *p != '\n' && *p != '\r' && *p != ',') ++p;
  return p == start && p != end && *p == ',' ? p + 1 : p;
}

/// Reads a number that from_chars takes to be out of range. Returns false if it is too large, not
/// too small.
bool read_rounded_to_zero(const char* p, const char* end, double& value) {
  std::istringstream text(std::string(p, end));
  text.imbue(std::locale::classic());
  return static_cast<bool>(text >> value);
}

/// The text [p, stop) in quotation marks, cut after `max` bytes.
std::string in_marks(const char* p, const char* stop, std::ptrdiff_t max) {
  constexpr const char* hex = "0123456789abcdef";
  std::string text = "'";
  for (const char* at = p; at != stop && at - p < max; ++at) {
    if (*at >= ' ' && *at <= '~') {
      text += *at;
    } else {
      const auto byte = static_cast<unsigned char>(*at);
      text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  if (stop - p > max) text += "...";
  return text + "'";
}

constexpr const char* line_end = "the end of the line";

}  // namespace

std::string quoted(const char* p, const char* end) {
  const char* const stop = end_of_word(p, end);
  if (stop != p) return in_marks(p, stop, max_quoted);
  return p != end && is_blank(*p) ? "a blank" : line_end;
}

std::string quoted_line(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  const char* stop = p;
  while (stop != end && *stop != '\n' && *stop != '\r') ++stop;
  while (stop != p && is_blank(stop[-1])) --stop;
  return stop == p ? line_end : in_marks(p, stop, max_quoted_line);
}

void fail_expected(const char* p, const char* end, std::string_view expected) {
  throw text_fault{p, "expected " + std::string(expected) + ", found " + quoted(p, end)};
}

void fail_id(const char* p, const char* end) {
  if (*p == '-' && is_digit(p[1])) {
    throw text_fault{p, "expected an id, found the negative number " + quoted(p, end)};
  }
  fail_expected(p, end, "an id (an integer)");
}

namespace detail {

const char* scan_long_id(const char* start, const char* end, std::uint64_t high,
                         std::uint64_t& value) {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  const char* p = start + 8;
  for (; is_digit(*p); ++p) {
    const auto digit = static_cast<std::uint64_t>(*p - '0');
    if (high > (max - 1 - digit) / 10) {
      throw text_fault{start,
                       "the number " + quoted(start, end) + " is too large: ids end at 2^64 - 2"};
    }
    high = high * 10 + digit;
  }
  value = high;
  return p;
}

}  // namespace detail

const char* scan_real(const char* p, const char* end, double& value, std::string_view what) {
  const char* const start = p;
  const auto fail = [&](const char* why) {
    throw text_fault{start, "the " + std::string(what) + " " + quoted(start, end) + why};
  };
  const char* const stop = end_of_word(p, end);
  if (*p == '+' && p[1] != '-') ++p;
  const auto [behind, error] = std::from_chars(p, stop, value);
  const bool out_of_range = error == std::errc::result_out_of_range;
  if (out_of_range && !read_rounded_to_zero(p, behind, value)) {
    fail(" is beyond the range of doubles");
  }
  if ((error != std::errc{} && !out_of_range) || behind != stop) {
    fail_expected(start, end, "a " + std::string(what) + " (a number)");
  }
  if (!std::isfinite(value)) fail(" is not finite");
  return behind;
}

}  // namespace cairn::graph::io
