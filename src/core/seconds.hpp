// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <string>

namespace cairn {

/// "2.5" for 2500 ms.
[[nodiscard]] inline std::string seconds_text(std::chrono::milliseconds length) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(),
                    static_cast<double>(length.count()) / 1000, std::chars_format::fixed);
  return {text.data(), end.ptr};
}

}  // namespace cairn
