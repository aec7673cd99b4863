// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace cairn::graph::io {

inline constexpr std::size_t max_weight_bytes = 26;

// Both write a weight at `at`, where max_weight_bytes are free, and return the position after it. A
// real weight has a point or an exponent, so that it is read back as one.

[[nodiscard]] inline char* put_weight(char* at, std::int32_t weight) {
  return std::to_chars(at, at + max_weight_bytes, weight).ptr;
}

[[nodiscard]] inline char* put_weight(char* at, double weight) {
  char* const end = std::to_chars(at, at + max_weight_bytes, weight).ptr;
  if (std::any_of(at, end, [](char c) { return c == '.' || c == 'e'; })) return end;
  return std::copy_n(".0", 2, end);
}

}  // namespace cairn::graph::io
