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

/// The in-edges of a rank's vertices in an order for summing up what their sources give.
///
/// Rows stand in blocks, and the rows of a block in groups of equal length, so that no branch
/// depends on the length of a row. Where a graph has no locality and what its vertices give exceeds
/// a core's cache, a block's edges are cut by their sources, too: into tiles whose sources lie in
/// one segment, which stays in cache while the tile is summed up.
///
/// tiles     blocks of 16,384 rows x segments of 32,768 sources, two bytes a source; else blocks of
///           1,024 rows, whose sources are ids
/// Memory    2 or sizeof(Id) bytes an edge, and 2 a row and tile
/// Source    Beamer, Asanovic and Patterson (2017) for blocking; [Beamer15] for what is summed.
template <class Id>
class pull_layout {
 public:
  enum class kind { automatic, groups, tiles };

  /// The kind that suits the graph: never `automatic`.
  [[nodiscard]] static kind kind_for(const graph::dist_csr<Id>& g);

  /// How many sweeps over the edges save about the time that building takes.
  [[nodiscard]] static std::uint64_t sweeps_that_repay(kind how) noexcept {
    return how == kind::tiles ? 32 : 8;
  }

  /// Throws    contract_violation for a directed graph without in-edges
  /// Work      O(n + m), and O(n) for each segment of tiles
  pull_layout(world& w, const graph::dist_csr<Id>& g, kind how = kind::automatic);

  /// Rows whose edges lie in the same segment and are equally many.
  struct group {
    std::uint32_t segment, length, num_rows;
  };
  struct block {
    std::uint64_t first, last;        ///< own rows, by position
    std::uint64_t first_source;       ///< in sources
    std::vector<group> groups;        ///< by segment
    std::vector<std::uint16_t> rows;  ///< of the groups one after the other, less first
  };

  [[nodiscard]] bool tiled() const noexcept { return sources_.index() == 1; }
  [[nodiscard]] const std::vector<block>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t num_rows() const noexcept {
    return blocks_.empty() ? 0 : blocks_.back().last;
  }
  /// Rows of the largest block.
  [[nodiscard]] std::size_t block_rows() const noexcept { return block_rows_; }
  /// By group and row; of tiles less the number of their segment times segment_size.
  template <class Source>
  [[nodiscard]] const Source* sources() const noexcept {
    return std::get<hw::page_buffer<Source>>(sources_).data();
  }

  static constexpr std::uint64_t segment_size = 1 << 15;

  /// Of parts that are known to be right, as stored_layout() reads them.
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
