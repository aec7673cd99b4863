// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/base/types.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/mapped_file.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// Of UTF-8; it may precede a text and is no part of it.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Some whole lines of a file. At least 16 bytes are readable after the text; unless it ends with a
/// newline, the first of them is zero.
struct text_block {
  std::string_view text;
  std::uint64_t offset = 0;  ///< in the decompressed file
  std::uint64_t index = 0;   ///< among all ranks' blocks
  std::uint64_t before = 0;  ///< the counts of the preceding text, see pass::count
};

/// An error in the contents of a file.
struct source_fault {
  std::uint64_t offset = 0;  ///< in the decompressed text
  std::string problem;
  bool sentence = false;  ///< `problem` already names file and position
};

/// A text file, plain or compressed, split into blocks at line ends.
///
/// Block k of a plain file contains the lines that begin in its bytes [k, k + 1) * block_bytes, so
/// any rank finds any block directly. A block of a compressed file has about block_bytes and exists
/// only while it is processed.
class text_source {
 public:
  /// Throws    input_error if the file cannot be opened.
  text_source(const std::string& path, std::size_t block_bytes);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] bool streamed() const noexcept { return compression_ != compression::none; }

  /// The first `bytes` of the text, or all if there are fewer, whatever skip_to said. Valid until
  /// the next call; 16 bytes are readable after it. Throws input_error.
  [[nodiscard]] std::string_view head(std::size_t bytes);

  /// Rejects longer lines of a compressed file, because they take memory.
  void limit_lines(std::size_t bytes) noexcept { max_line_bytes_ = bytes; }

  /// Skips the text before `offset`, where a line begins.
  void skip_to(std::uint64_t offset) noexcept { begin_ = offset; }

  using counter = std::function<std::uint64_t(std::string_view)>;

  struct pass {
    rank_t rank = 0;  ///< handles blocks rank, rank + size, ...
    rank_t size = 1;
    counter count;  ///< if set and the file is compressed, fills text_block::before
    std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< see read_options
  };

  /// Calls f(worker, block) for every block of the pass, on all workers, in unspecified order. A
  /// byte order mark is skipped.
  ///
  /// Memory    for a compressed file, two blocks (or longest lines) per worker
  /// Returns   the first fault in the file among those that f threw as text_fault and those of
  ///           decompression. Other exceptions of f propagate.
  /// Called by worker 0, outside parallel loops.
  [[nodiscard]] std::optional<source_fault> for_each_block(
      task::pool& workers, const pass& options,
      const std::function<void(worker_t, const text_block&)>& f) const;

  /// The error for a fault, with its line number. Reads the file again up to the fault. It reads a
  /// compressed file further, because the likelier cause of invalid text is corrupt data.
  [[nodiscard]] input_error error(const source_fault& fault) const;
  [[nodiscard]] input_error error(std::uint64_t offset, const std::string& problem) const {
    return error(source_fault{offset, problem, false});
  }

 private:
  class stream;
  class faults;

  [[nodiscard]] std::uint64_t num_blocks() const noexcept;
  [[nodiscard]] text_block block(std::uint64_t index) const noexcept;
  void cut_to_begin(text_block& block) const noexcept;
  void parse_mapped(task::pool& workers, const pass& options, faults& found,
                    const std::function<void(worker_t, const text_block&)>& f) const;
  void parse_streamed(task::pool& workers, const pass& options, faults& found,
                      const std::function<void(worker_t, const text_block&)>& f) const;

  mapped_file file_;
  compression compression_;
  std::size_t block_bytes_;
  std::uint64_t begin_ = 0;
  std::size_t max_line_bytes_ = std::size_t{1} << 20;
  std::vector<char> head_;
};

}  // namespace cairn::graph::io
