// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/bounded_text.hpp>

namespace cairn::algo {

/// A string of at most 20 characters.
using pool_string = pgas::bounded_text<20>;

/// The numbered strings that tasks take as inputs.
///
/// Generated strings take no memory: string i has 5 to 20 of the 32 characters a-z and 2-7, drawn
/// from random64(seed).stream(i). The strings of a file are all its words, in order.
class string_pool {
 public:
  /// A number of generated strings, at least one.
  struct generated {
    std::uint64_t size;
    std::uint64_t seed;
  };
  explicit string_pool(const generated& strings) : size_(strings.size), seed_(strings.seed) {}
  /// These strings, at least one.
  explicit string_pool(std::vector<pool_string> words)
      : size_(words.size()), words_(std::move(words)) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] pool_string operator[](std::uint64_t i) const noexcept {
    return words_.empty() ? generate(i) : words_[i];
  }

 private:
  [[nodiscard]] pool_string generate(std::uint64_t i) const noexcept {
    constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567";
    auto draws = random64(seed_).stream(i);
    std::array<char, 20> characters;
    const auto first = draws(), second = draws();
    const auto length = 5 + (first >> 60);
    for (unsigned k = 0; k < 10; ++k) {
      characters[k] = alphabet[first >> 5 * k & 31];
      characters[10 + k] = alphabet[second >> 5 * k & 31];
    }
    return pool_string({characters.data(), length});
  }

  std::uint64_t size_, seed_ = 0;
  std::vector<pool_string> words_;
};

/// The words of a text file, plain or compressed (.gz .zst .xz), separated by blanks and line ends.
/// Words are cut to 20 bytes.
struct pool_words {
  std::vector<pool_string> words;
  std::uint64_t cut = 0;  ///< number of words that were longer
};

/// Reads all words of a file.
///
/// progress  called with the bytes done and all bytes, by any worker
/// Throws    input_error if the file cannot be read, contains a control character or no word
/// Called by worker 0. Not collective.
[[nodiscard]] pool_words read_words(
    world& w, const std::string& path,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace cairn::algo
