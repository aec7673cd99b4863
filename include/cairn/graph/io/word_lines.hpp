// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/io/text_layout.hpp>
#include <cairn/graph/labels.hpp>
#include <cairn/graph/words.hpp>

namespace cairn {
class world;
}

namespace cairn::graph::io {

/// Distinct words in the order of first occurrence.
///
/// Memory    the characters and about 64 bytes a word
class dictionary {
 public:
  /// The number of `word`. A new word gets the next number.
  std::uint32_t number_of(std::string_view word);

  /// Indexed by number.
  [[nodiscard]] const std::vector<std::string_view>& words() const noexcept { return words_; }

 private:
  std::string_view keep(std::string_view word);

  std::vector<std::unique_ptr<char[]>> memory_;
  char* free_ = nullptr;
  std::size_t left_ = 0;
  std::vector<std::string_view> words_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// Parses whole lines of an edge list or a CSV file whose ids are words (see is_word). About
/// 100 ns an edge.
///
/// text          as in text_block
/// real_weights  stores doubles even if all weights of the block are integers
/// Returns       edges between numbers of `known`, to which new words are added
/// Throws        text_fault for the first line that does not match the layout
[[nodiscard]] edge_block parse_word_lines(std::string_view text, const text_layout& layout,
                                          bool real_weights, dictionary& known);

/// The same with the ids of a graph, numbers or words.
///
/// Returns       edges between its vertices
/// Throws        text_fault also for an id that is not the graph's
[[nodiscard]] edge_block parse_vertex_pairs(std::string_view text, const text_layout& layout,
                                            bool real_weights, const labels& names);

/// The words of all ranks, ascending; the same on every rank.
///
/// Memory    temporarily on each rank the result twice, and 16 bytes for each word
/// Messages  one for each word of each rank, to the rank that its hash names
/// Collective.
[[nodiscard]] word_list agree_on_words(world& w, const std::vector<const dictionary*>& mine);

}  // namespace cairn::graph::io
