// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <cairn/graph/edge.hpp>
#include <cairn/graph/words.hpp>

namespace cairn::graph::io {

/// The edges of one stretch of a file, in the file's order.
///
/// edges     32-bit ids whenever all ids of the block are below 2^32 - 1, so that the edges of
///           most files take 8 bytes each; else 64-bit ids
/// weights   one for each edge, or nothing: 32-bit integers while all weights of the whole
///           file (on all ranks) are integers that fit, else doubles, finite
struct edge_block {
  std::variant<std::vector<edge<std::uint32_t>>, std::vector<edge<std::uint64_t>>> edges;
  std::variant<std::monostate, std::vector<std::int32_t>, std::vector<double>> weights;

  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, edges);
  }
};

/// The alternative of edge_block::weights, by index.
enum class weight_kind : std::uint8_t { none, integer, real };

/// What a rank has read of an edge list: some blocks, which together with the other ranks'
/// blocks are the file. Duplicates and self-loops are kept.
///
/// blocks             ids as in the file, less first_id
/// first_id           the smallest id that a vertex can have: 1 of formats that declare n
/// words              of ids in text: all that occur on any rank, ascending; ids in the blocks
///                    are places in it
/// declared_vertices  of formats that declare n: every id is below it; else nothing, and a
///                    vertex is an id that occurs (see graph/labels.hpp)
/// directed           false: every undirected edge stands here once, written either way
/// weights            the alternative that every block's weights hold, the same on all ranks
struct raw_edges {
  std::vector<edge_block> blocks;
  std::optional<std::uint64_t> declared_vertices;
  std::uint64_t first_id = 0;
  std::optional<word_list> words;
  bool directed = true;
  weight_kind weights = weight_kind::none;

  [[nodiscard]] bool has_weights() const noexcept { return weights != weight_kind::none; }

  /// Edges on this rank.
  [[nodiscard]] std::uint64_t num_edges() const {
    std::uint64_t n = 0;
    for (const auto& block : blocks) n += block.size();
    return n;
  }
};

}  // namespace cairn::graph::io
