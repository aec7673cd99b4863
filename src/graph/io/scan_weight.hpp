// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/weight_rule.hpp>

namespace cairn::graph::io {

/// The name of an edge between two ids for a message.
[[nodiscard]] inline std::string edge_name(const std::string& source, const std::string& target) {
  return "edge from " + source + " to " + target;
}
[[nodiscard]] inline std::string edge_name(std::uint64_t source, std::uint64_t target) {
  return edge_name(std::to_string(source), std::to_string(target));
}

[[nodiscard]] inline bool obeys(weight_numbers numbers, const char* begin, const char* end) {
  std::int32_t ignored = 0;
  switch (numbers) {
    case weight_numbers::real:
      return true;
    case weight_numbers::integer:
      return std::all_of(*begin == '-' || *begin == '+' ? begin + 1 : begin, end, is_digit);
    case weight_numbers::integer_of_32_bits:
      return scan_integer(begin, ignored) != nullptr;
  }
  return false;
}

/// Whether a weight is what its text says, if that is an integer: a double holds only some beyond
/// 2^53.
[[nodiscard]] inline bool is_exact(const char* begin, const char* end, double weight) {
  if (std::abs(weight) < 0x1p53 || !obeys(weight_numbers::integer, begin, end)) return true;
  const auto digits = std::string(*begin == '-' || *begin == '+' ? begin + 1 : begin, end);
  std::array<char, 512> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), std::abs(weight),
                                     std::chars_format::fixed);
  const auto first = std::min(digits.find_first_not_of('0'), digits.size());
  return std::string_view(digits).substr(first) == std::string_view(text.data(), written.ptr);
}

/// Throws the fault of the weight at p, which violates the rule.
[[noreturn]] inline void fail_weight(const char* p, const char* end, const char* expected,
                                     const std::string& edge) {
  throw text_fault{
      p, std::string("expected ") + expected + ", found " + quoted(p, end) + " (" + edge + ")"};
}

/// Reads the weight at p. Returns the position after it, or nullptr if Weight is a 32-bit integer
/// and the weight is not.
///
/// name      name() is the edge's
/// Throws    text_fault if there is no weight, or if it violates the rule
template <class Weight, class Name>
const char* scan_weight(const char* p, const char* end, const weight_rule& rule, Weight& weight,
                        const Name& name) {
  const char* behind = nullptr;
  if constexpr (std::is_same_v<Weight, double>) {
    behind = scan_real(p, end, weight);
    if (!obeys(rule.numbers, p, behind)) {
      fail_weight(p, end,
                  rule.numbers == weight_numbers::integer ? "a weight that is an integer"
                                                          : "a weight that is a 32-bit integer",
                  name());
    }
    if (!is_exact(p, behind, weight)) [[unlikely]] {
      fail_weight(p, end, "an integer that a 64-bit real number holds exactly", name());
    }
  } else {
    behind = scan_integer(p, weight);
    if (behind == nullptr) return nullptr;
  }
  if (rule.not_negative && weight < 0) [[unlikely]] {
    fail_weight(p, end, "a weight of at least 0", name());
  }
  return behind;
}

}  // namespace cairn::graph::io
