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

/// Some whole lines of a file. At least 16 bytes can be read behind the text; unless it ends with
/// a newline, the first of them is zero.
struct text_block {
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the text in the file, decompressed
  std::uint64_t index = 0;   ///< of the block among all ranks' blocks
  std::uint64_t before = 0;  ///< what was counted in the text before it, see for_each_block
};

/// Something in a file that cannot be used.
struct source_fault {
  std::uint64_t offset = 0;  ///< in the decompressed text
  std::string what;
  bool sentence = false;  ///< `what` names file and place already
};

/// A text file, plain or compressed, cut into blocks at line ends.
///
/// Block k of a plain file holds the lines that begin in its bytes [k, k + 1) * block_bytes, so
/// any rank finds any block without looking at others. The blocks of a compressed file end at
/// the first line end after so many bytes, and exist only in passing.
class text_source {
 public:
  /// Throws    input_error if the file cannot be opened.
  text_source(const std::string& path, std::size_t block_bytes);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] bool streamed() const noexcept { return compression_ != compression::none; }

  /// The first bytes of the text, `bytes` or all there are, whatever skip_to said. Valid until
  /// the next call; 16 bytes can be read behind it. Throws input_error.
  [[nodiscard]] std::string_view head(std::size_t bytes);

  /// Refuses longer lines of a compressed file, which take memory.
  void limit_lines(std::size_t bytes) noexcept { most_line_bytes_ = bytes; }

  /// Leaves out the text before `offset`, where a line begins.
  void skip_to(std::uint64_t offset) noexcept { begin_ = offset; }

  /// Counts something in a text.
  using counter = std::function<std::uint64_t(std::string_view)>;

  struct pass {
    rank_t rank = 0;  ///< blocks rank, rank + size, ... are looked at
    rank_t size = 1;
    counter count;  ///< if set, and the file is streamed: fills text_block::before
    std::function<void(std::uint64_t, std::uint64_t)> progress;  ///< see read_options
  };

  /// Calls f(worker, block) for every own block, on all workers, in no certain order.
  ///
  /// Memory    for a compressed file, two blocks (or longest lines) per worker
  /// Returns   the fault that comes first in the file among those that f threw as text_fault and
  ///           those of decompression. Other exceptions of f pass through.
  /// Called by worker 0, outside parallel loops.
  [[nodiscard]] std::optional<source_fault> for_each_block(
      task::pool& workers, const pass& options,
      const std::function<void(worker_t, const text_block&)>& f) const;

  /// The sentence for a fault, with its line. Reads the file again up to there; a compressed
  /// file further, because corrupt data is the likelier reason for text that makes no sense.
  [[nodiscard]] input_error error(const source_fault& fault) const;
  [[nodiscard]] input_error error(std::uint64_t offset, const std::string& what) const {
    return error(source_fault{offset, what, false});
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
  std::size_t most_line_bytes_ = std::size_t{1} << 20;
  std::vector<char> head_;
};

}  // namespace cairn::graph::io
