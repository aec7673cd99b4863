// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/io/text_layout.hpp>

namespace cairn::graph::io {

/// Memory that a worker parses into before a block's edges are counted; reused for later blocks.
class parse_scratch {
 public:
  /// At least `bytes`, uninitialised, aligned for 8-byte values. Invalidates the previous result.
  [[nodiscard]] std::byte* at_least(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset(new std::byte[bytes]);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

/// The edges that one block of lines contains.
///
/// edges    for a skew-symmetric matrix both (i, j, w) and (j, i, -w)
/// entries  number of lines that are edges
/// below    for a symmetric matrix, offset in the text of the first entry below the diagonal
/// above    the same above the diagonal; a file with both violates the format
struct parsed_lines {
  edge_block edges;
  std::uint64_t entries = 0;
  std::optional<std::uint64_t> below;
  std::optional<std::uint64_t> above;
};

/// Parses whole lines of any format except METIS, about 10 ns an edge.
///
/// text          as in text_block
/// real_weights  stores doubles even if all weights of the block are integers
/// Throws        text_fault for the first line that does not match the layout
[[nodiscard]] parsed_lines parse_edge_lines(std::string_view text, const text_layout& layout,
                                            bool real_weights, parse_scratch& scratch);

}  // namespace cairn::graph::io
