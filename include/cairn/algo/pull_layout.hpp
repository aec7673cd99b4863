// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::algo {

/// The in-edges of a rank's vertices, reordered for summing the contributions of their sources.
///
/// Rows are grouped into blocks, and the rows of a block into groups of equal length, so that the
/// length of a row causes no branch misprediction. If a graph has no locality and its contributions
/// exceed a core's cache, the edges of a block are also divided by source into tiles. The sources
/// of a tile lie in one segment, which stays in cache while the tile is processed.
///
/// tiles     blocks of 8,192 rows x segments of 32,768 sources, two bytes per source; else blocks
///           of up to 1,024 rows, whose sources are ids
/// Memory    2 or sizeof(Id) bytes per edge, and 2 per row and tile
/// Source    [Beamer17] for blocking; [Beamer15] for the contributions
template <class Id>
class pull_layout {
 public:
  enum class kind { automatic, groups, tiles };

  /// The best kind for the graph; never `automatic`.
  [[nodiscard]] static kind kind_for(const graph::dist_csr<Id>& g);

  /// Number of sweeps whose savings roughly equal the time to build the layout.
  [[nodiscard]] static std::uint64_t break_even_sweeps(kind chosen) noexcept {
    return chosen == kind::tiles ? 32 : 8;
  }

  /// Throws    contract_violation for a directed graph without in-edges
  /// Work      O(n + m), and O(n) per segment of tiles
  pull_layout(world& w, const graph::dist_csr<Id>& g, kind chosen = kind::automatic);

  /// Rows with the same number of edges in the same segment.
  struct group {
    std::uint32_t segment, length, num_rows;
  };
  struct block {
    std::uint64_t first, last;        ///< positions of its rows in this rank
    std::uint64_t first_source;       ///< index in sources()
    std::vector<group> groups;        ///< in order of segments
    std::vector<std::uint16_t> rows;  ///< rows of all groups, relative to `first`
  };

  [[nodiscard]] bool tiled() const noexcept { return sources_.index() == 1; }
  [[nodiscard]] const std::vector<block>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t num_rows() const noexcept {
    return blocks_.empty() ? 0 : blocks_.back().last;
  }
  /// Number of rows of the largest block.
  [[nodiscard]] std::size_t block_rows() const noexcept { return block_rows_; }
  /// Sources by group and row; with tiles relative to the start of their segment.
  template <class Source>
  [[nodiscard]] const Source* sources() const noexcept {
    return std::get<hw::page_buffer<Source>>(sources_).data();
  }

  static constexpr std::uint64_t segment_size = 1 << 15;

  /// From valid parts, as checked by stored_layout().
  template <class Source>
  pull_layout(std::size_t block_rows, std::vector<block> blocks, hw::page_buffer<Source> sources)
      : block_rows_(block_rows), blocks_(std::move(blocks)), sources_(std::move(sources)) {}

 private:
  template <class Source>
  void build(world& w, const graph::csr<Id>& in, std::uint64_t num_vertices);

  std::size_t block_rows_ = 0;
  std::vector<block> blocks_;
  std::variant<hw::page_buffer<Id>, hw::page_buffer<std::uint16_t>> sources_;
};

extern template class pull_layout<std::uint32_t>;
extern template class pull_layout<std::uint64_t>;

}  // namespace cairn::algo
