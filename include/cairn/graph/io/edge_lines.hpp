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

/// Memory that a worker parses into before a block's edges are counted; kept from block to block.
class parse_scratch {
 public:
  /// At least `bytes`, uninitialised, aligned for 8-byte values; the last ones are gone.
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

/// What one block of lines held, each an edge.
///
/// edges    of a skew-symmetric matrix both (i, j, w) and (j, i, -w)
/// entries  lines
/// below    offset in the text of the first entry of a symmetric matrix below the diagonal
/// above    of the first above it; a file that has both is not symmetric as the format means it
struct parsed_lines {
  edge_block edges;
  std::uint64_t entries = 0;
  std::optional<std::uint64_t> below;
  std::optional<std::uint64_t> above;
};

/// Parses whole lines of any format but METIS, about 10 ns an edge.
///
/// text          as a text_block's
/// real_weights  doubles even where all weights of the block are whole numbers
/// Throws        text_fault for the first line that does not fit the layout
[[nodiscard]] parsed_lines parse_edge_lines(std::string_view text, const text_layout& layout,
                                            bool real_weights, parse_scratch& scratch);

}  // namespace cairn::graph::io
