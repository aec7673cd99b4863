// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cstdio>

#include <cairn/base/format.hpp>

namespace cairn {

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  const auto digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, units[unit]);
  return text.data();
}

std::string format_number(double x) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}

}  // namespace cairn
