// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <cairn/base/contract.hpp>

namespace cairn::pgas {

/// A text of at most N characters that may travel as its bytes: a key of a hash_map.
template <std::size_t N>
requires(N >= 1 && N <= 255) class bounded_text {
 public:
  bounded_text() = default;
  /// Throws    contract_violation if the text is longer
  explicit bounded_text(std::string_view text) : length_(static_cast<std::uint8_t>(text.size())) {
    CAIRN_EXPECTS(text.size() <= N, "the text is too long for its type");
    std::copy(text.begin(), text.end(), characters_.begin());
  }
  [[nodiscard]] std::string_view view() const noexcept { return {characters_.data(), length_}; }
  friend bool operator==(const bounded_text&, const bounded_text&) = default;

 private:
  std::uint8_t length_ = 0;
  std::array<char, N> characters_{};  // zeros at the end, so that equal texts have equal bytes
};

}  // namespace cairn::pgas
