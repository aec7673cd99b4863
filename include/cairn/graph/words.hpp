// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn::graph {

/// Whether `word` can be a text id: not empty; without blanks, commas, semicolons, quotation marks
/// and control characters; not beginning like a comment (# or %).
[[nodiscard]] constexpr bool is_word(std::string_view word) noexcept {
  if (word.empty() || word.front() == '#' || word.front() == '%') return false;
  return std::none_of(word.begin(), word.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= ' ' || byte == 0x7f || c == ',' || c == ';' || c == '"';
  });
}

/// Words stored contiguously.
///
/// Memory    their characters and 8 bytes a word
class word_list {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::uint64_t i) const noexcept {
    CAIRN_ASSERT(i < size());
    return {characters_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  /// The characters of all words, concatenated.
  [[nodiscard]] const std::string& characters() const noexcept { return characters_; }
  /// Word i has characters [offsets()[i], offsets()[i + 1]); shape [size() + 1].
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const noexcept { return offsets_; }

  void reserve(std::uint64_t words, std::uint64_t characters) {
    offsets_.reserve(words + 1);
    characters_.reserve(characters);
  }
  void push_back(std::string_view word) {
    characters_.append(word);
    offsets_.push_back(characters_.size());
  }

  /// Whether each word is greater than the one before, compared by bytes.
  [[nodiscard]] bool ascends() const noexcept {
    for (std::uint64_t i = 1; i < size(); ++i) {
      if ((*this)[i - 1] >= (*this)[i]) return false;
    }
    return true;
  }
  /// The position of `word` in an ascending list, or nothing. O(log size()).
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view word) const noexcept {
    std::uint64_t first = 0, last = size();
    while (first < last) {
      const auto middle = first + (last - first) / 2;
      if ((*this)[middle] < word) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    if (first == size() || (*this)[first] != word) return std::nullopt;
    return first;
  }

 private:
  std::string characters_;
  std::vector<std::uint64_t> offsets_{0};
};

}  // namespace cairn::graph
