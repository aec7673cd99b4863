// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include <cairn/activity/mechanism.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {
namespace {

constexpr std::array<std::string_view, 7> names{"auto",  "plain",    "atomics", "htm",
                                                "locks", "one-lock", "stm"};

}  // namespace

std::string_view name(mechanism m) noexcept { return names[static_cast<std::size_t>(m)]; }

mechanism parse_mechanism(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<mechanism>(i);
  }
  throw usage_error("the mechanism is '" + std::string(text) +
                    "', expected auto, plain, atomics, htm, locks, one-lock or stm");
}

}  // namespace cairn::activity
