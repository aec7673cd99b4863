// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <cairn/graph/edge.hpp>
#include <cairn/graph/words.hpp>

namespace cairn::graph::io {

/// The edges of one block of a file, in the file's order.
///
/// edges     32-bit ids if all ids of the block are below 2^32 - 1, so that most files take 8 bytes
///           an edge; else 64-bit ids
/// weights   one per edge, or none: 32-bit integers if all weights of the whole file (on all ranks)
///           are integers that fit, else finite doubles
struct edge_block {
  std::variant<std::vector<edge<std::uint32_t>>, std::vector<edge<std::uint64_t>>> edges;
  std::variant<std::monostate, std::vector<std::int32_t>, std::vector<double>> weights;

  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, edges);
  }
};

/// The alternative of edge_block::weights, by index.
enum class weight_kind : std::uint8_t { none, integer, real };

/// The blocks of an edge list that a rank has read. The blocks of all ranks together are the file.
/// Duplicates and self-loops are kept.
///
/// blocks             ids as in the file, minus first_id
/// first_id           the smallest id that a vertex can have: 1 in formats that declare n
/// words              for text ids: all words that occur on any rank, ascending; ids in the blocks
///                    are positions in it
/// declared_vertices  in formats that declare n: every id is below it; else empty, and a vertex is
///                    an id that occurs (see graph/labels.hpp)
/// declared_at        "FILE:LINE" of that declaration, for messages; may be empty
/// directed           false: every undirected edge occurs once, in either orientation
/// weights            the kind of weights in every block, the same on all ranks
struct raw_edges {
  std::vector<edge_block> blocks;
  std::optional<std::uint64_t> declared_vertices;
  std::string declared_at = {};
  std::uint64_t first_id = 0;
  std::optional<word_list> words;
  bool directed = true;
  weight_kind weights = weight_kind::none;

  [[nodiscard]] bool has_weights() const noexcept { return weights != weight_kind::none; }

  /// The number of edges on this rank.
  [[nodiscard]] std::uint64_t num_edges() const {
    std::uint64_t n = 0;
    for (const auto& block : blocks) n += block.size();
    return n;
  }
};

}  // namespace cairn::graph::io
