// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/seconds.hpp"

// The texts of settings and their values.
namespace cairn::setting_values {

/// An integer from `least` to `most`, without any other text.
template <class T>
std::optional<T> number(std::string_view text, T least, T most) {
  T value{};
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < least || value > most) return std::nullopt;
  return value;
}

constexpr std::size_t max_amount = std::numeric_limits<std::size_t>::max() / 2;

/// A number of bytes or entries, at most `max`; 64K, 16M and 1G are multiples of powers of 1024.
inline std::optional<std::size_t> amount(std::string_view text, std::size_t max = max_amount) {
  unsigned shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift != 0) text.remove_suffix(1);
  const auto value = number<std::size_t>(text, 0, max >> shift);
  if (!value) return std::nullopt;
  return *value << shift;
}

/// A number of seconds with an optional fraction, from 0.001 to 10^9, as milliseconds; "off" is 0.
inline std::optional<std::uint64_t> milliseconds_or_off(std::string_view text) {
  if (text == "off") return 0;
  double value{};
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (error != std::errc() || at != end || !(value >= 0.001 && value <= 1e9)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * 1000));
}

inline std::string seconds_or_off(std::uint64_t ms) {
  if (ms == 0) return "off";
  return seconds_text(std::chrono::milliseconds(ms));
}

/// Stores the value if there is one; returns whether there is.
template <class T>
bool store(T& to, const std::optional<T>& value) {
  if (value) to = *value;
  return value.has_value();
}

/// The same, where "auto" means 0.
template <class T>
bool store_or_auto(T& to, std::string_view text, const std::optional<T>& value) {
  if (text != "auto") return value && *value != 0 && store(to, value);
  to = T{};
  return true;
}

template <class T>
std::string auto_or(const T& value) {
  return value == T{} ? "auto" : std::to_string(value);
}

template <class T>
struct choice {
  std::string_view text;
  T value;
};

template <class T, std::size_t N>
bool choose(T& to, std::string_view text, const std::array<choice<T>, N>& choices) {
  const auto* const found = std::find_if(choices.begin(), choices.end(),
                                         [&](const choice<T>& c) { return c.text == text; });
  if (found == choices.end()) return false;
  to = found->value;
  return true;
}

template <class T, std::size_t N>
std::string chosen(const T& value, const std::array<choice<T>, N>& choices) {
  for (const auto& c : choices) {
    if (c.value == value) return std::string(c.text);
  }
  return {};
}

}  // namespace cairn::setting_values
