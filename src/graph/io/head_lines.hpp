// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>

namespace cairn::graph::io {

/// Iterates over the lines of a file's beginning; `whole`: it is the whole file.
class head_lines {
 public:
  head_lines(std::string_view head, bool whole)
      : begin_(head.data()), at_(head.data()), end_(at_ + head.size()), whole_(whole) {
    if (head.starts_with(byte_order_mark)) at_ += byte_order_mark.size();
  }

  /// Advances to the next line. Returns false if there is none, or if the head ends within it.
  bool next() {
    line_ = at_;
    const char* const newline =
        static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
    if (newline == nullptr && end_ - at_ > max_bytes) {
      throw text_fault{at_, "the line is longer than 1 MiB, the maximum for a header or an edge"};
    }
    if (newline == nullptr && (at_ == end_ || !whole_)) return false;
    stop_ = newline == nullptr ? end_ : newline;
    at_ = newline == nullptr ? end_ : newline + 1;
    if (stop_ != line_ && stop_[-1] == '\r') --stop_;
    return true;
  }

  /// Advances to the next line that is not blank and does not begin with one of `comments`.
  bool next_but(std::string_view comments) {
    while (next()) {
      const char* const p = skip_blanks(line_);
      if (p < stop_ && comments.find(*p) == std::string_view::npos) return true;
    }
    return false;
  }

  [[nodiscard]] bool whole() const noexcept { return whole_; }
  [[nodiscard]] const char* line() const noexcept { return line_; }
  [[nodiscard]] const char* stop() const noexcept { return stop_; }
  [[nodiscard]] std::uint64_t offset() const noexcept {
    return static_cast<std::uint64_t>(line_ - begin_);
  }
  [[nodiscard]] std::uint64_t next_offset() const noexcept {
    return static_cast<std::uint64_t>(at_ - begin_);
  }

  /// The words of the line, separated by blanks and `separators`.
  [[nodiscard]] std::vector<std::string_view> words(std::string_view separators = {}) const {
    std::vector<std::string_view> found;
    bool separated = true;
    for (const char* p = line_; p < stop_;) {
      if (is_blank(*p)) {
        ++p;
      } else if (separators.find(*p) != std::string_view::npos) {
        if (separated) found.emplace_back(p, 0);
        separated = true;
        ++p;
      } else {
        const char* const start = p;
        while (p < stop_ && !is_blank(*p) && separators.find(*p) == std::string_view::npos) ++p;
        found.emplace_back(start, static_cast<std::size_t>(p - start));
        separated = false;
      }
    }
    return found;
  }

  /// The words of the line as numbers, without the first `skipped` words.
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::size_t skipped) const {
    std::vector<std::uint64_t> found;
    for (const auto word : words()) {
      if (skipped != 0) {
        --skipped;
        continue;
      }
      const char* const behind = scan_id(word.data(), stop_, found.emplace_back());
      if (behind != word.data() + word.size()) fail_id(word.data(), stop_);
    }
    return found;
  }

 private:
  static constexpr std::ptrdiff_t max_bytes = std::ptrdiff_t{1} << 20;

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* line_ = nullptr;
  const char* stop_ = nullptr;
  bool whole_;
};

}  // namespace cairn::graph::io
