// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <cairn/base/error.hpp>

namespace cairn::algo {

/// Meaning of a member's numbers, which decides how they are shown.
///
///   numbers   shown as they are
///   vertices  vertices; shown by their ids in the input
///   classes   class representatives: the smallest vertex with the same value. Shown by the
///             smallest input id in the class, which may belong to another vertex
enum class value_kind { numbers, vertices, classes };

/// One member of an aggregate, as described in reports, JSON, the command line and bindings.
///
/// name      of an option: also its long form on the command line
/// meaning   one clause for the help text
/// letter    an option's short form; 0: none
/// kind      the meaning of the numbers
/// partial   a map in which a vertex may have no value (no_vertex)
/// absent    of an option: its value in a run if it is not given; empty: the initial value of the
///           member
template <class Of, class T>
struct field {
  std::string_view name;
  T Of::*member;
  std::string_view meaning;
  char letter = 0;
  value_kind kind = value_kind::numbers;
  bool partial = false;
  std::string_view absent = {};

  /// The same with `absent`.
  [[nodiscard]] constexpr field if_absent(std::string_view value) const {
    auto same = *this;
    same.absent = value;
    return same;
  }
};

/// A type that describes its members by `static constexpr auto fields()`, a tuple of fields.
template <class T>
concept described = requires {
  T::fields();
};

/// Calls f(field) for each field of T, in order.
template <described T, class F>
constexpr void each_field(F&& f) {
  std::apply([&](const auto&... fields) { (f(fields), ...); }, T::fields());
}

/// The names of an enumeration's values, from 0, on the command line. Specialised for each
/// enumeration that is an option or a result.
template <class E>
inline constexpr std::span<const std::string_view> enum_names{};

/// Text as a template argument.
template <std::size_t N>
struct text_constant {
  char text[N];
  constexpr text_constant(const char (&from)[N]) { std::copy(from, from + N, text); }
};
/// Storage for enum_names<E>: words<"auto", "on", "off">.
template <text_constant... Words>
inline constexpr std::array<std::string_view, sizeof...(Words)> words{
    std::string_view(Words.text)...};

template <class E>
[[nodiscard]] constexpr std::string_view enum_name(E value) {
  return enum_names<E>[static_cast<std::size_t>(value)];
}

/// An option whose value is a vertex id of the input; empty: not given.
struct vertex_option {
  std::string id;
};

/// An option whose value is a positive integer or `auto`; empty: auto.
struct automatic_number {
  std::optional<std::uint64_t> number;
};

/// Returns false unless the whole text is a number of type T.
template <class T>
[[nodiscard]] bool read_integer(std::string_view text, T& to) {
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, to);
  return error == std::errc() && at == end;
}

/// The text from which read_option() would read a value; empty if no text gives it.
template <class T>
[[nodiscard]] std::string option_text(const T& value) {
  if constexpr (std::is_same_v<T, automatic_number>) {
    return value.number ? option_text(*value.number) : "auto";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(enum_name(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
  } else {
    return {};
  }
}

/// Parses the value of an option.
///
/// Throws    usage_error that names the option if the text is not a valid value
template <class T>
void read_option(std::string_view name, std::string_view text, T& to) {
  const auto refuse = [&](const std::string& expected) {
    return usage_error("--" + std::string(name) + " is '" + std::string(text) + "', expected " +
                       expected);
  };
  if constexpr (std::is_same_v<T, vertex_option>) {
    if (text.empty()) throw refuse("the id of a vertex");
    to.id = text;
  } else if constexpr (std::is_same_v<T, automatic_number>) {
    to.number.reset();
    if (text == "auto") return;
    if (read_integer(text, to.number.emplace()) && to.number != 0u) return;
    throw refuse("auto or an integer of at least 1");
  } else if constexpr (std::is_enum_v<T>) {
    std::string all;
    for (std::size_t i = 0; i < enum_names<T>.size(); ++i) {
      if (enum_names<T>[i] == text) return static_cast<void>(to = static_cast<T>(i));
      all += (i == 0 ? "" : ", ") + std::string(enum_names<T>[i]);
    }
    throw refuse("one of " + all);
  } else if constexpr (requires { typename T::value_type; }) {
    read_option(name, text, to.emplace());
  } else {
    if (read_integer(text, to)) return;
    throw refuse(std::is_integral_v<T> ? "an integer from 0 to 2^64 - 1"
                                       : "a number in the range of doubles");
  }
}

}  // namespace cairn::algo
