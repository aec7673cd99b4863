// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cairn {

/// The name of a type, with its namespaces, for reports: "cairn::algo::visit<unsigned
/// int>::message".
template <class T>
[[nodiscard]] constexpr std::string_view type_name() noexcept {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "T = ";
  const auto begin = whole.find(before) + before.size();
  auto name = whole.substr(begin, whole.find_last_of(']') - begin);
  // g++ adds what std::string_view stands for; its own templates follow after a semicolon.
  if (const auto more = name.find("; std::string_view"); more != name.npos)
    name = name.substr(0, more);
  return name;
}

}  // namespace cairn
