// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <type_traits>

#include <cairn/algo/pull_layout.hpp>
#include <cairn/task/per_worker.hpp>

#include "algo/far_neighbors.hpp"

namespace cairn::algo {
namespace {

constexpr std::uint64_t rows_of_tiles = 1 << 13, rows_of_groups = 1 << 10;

// Scratch data of one worker for one block.
struct tile_sorter {
  std::vector<std::uint64_t> at;        // by row: first edge in the segment
  std::vector<std::uint32_t> length;    // by row: number of edges in the segment
  std::vector<std::uint32_t> num_rows;  // by length: number of rows, then position of the next one
  std::vector<std::uint64_t> longest;   // rows with more edges than num_rows counts

  static constexpr std::size_t counted = 1024;
};

}  // namespace

template <class Id>
typename pull_layout<Id>::kind pull_layout<Id>::kind_for(const graph::dist_csr<Id>& g) {
  g.expect_in();
  constexpr std::uint64_t min_segments = 8;      // fewer nearly fit a core's cache
  constexpr std::uint64_t max_per_edge = 4;      // otherwise most rows have no edge in a segment
  constexpr std::uint64_t far_source = 1 << 16;  // preceding rows have not brought it to the cache
  const auto segments = (g.num_vertices() + segment_size - 1) / segment_size;
  const bool cut = segments >= min_segments &&
                   segments * g.in().num_rows() <= max_per_edge * g.in().num_edges() &&
                   share_of_far_neighbors(g.in(), far_source) > 0.5;
  return cut ? kind::tiles : kind::groups;
}

template <class Id>
pull_layout<Id>::pull_layout(world& w, const graph::dist_csr<Id>& g, kind chosen) {
  g.expect_in();
  if (chosen == kind::automatic) chosen = kind_for(g);
  if (chosen == kind::tiles) {
    build<std::uint16_t>(w, g.in(), g.num_vertices());
  } else {
    build<Id>(w, g.in(), g.num_vertices());
  }
}

template <class Id>
template <class Source>
void pull_layout<Id>::build(world& w, const graph::csr<Id>& in, std::uint64_t num_vertices) {
  constexpr bool tiles = std::is_same_v<Source, std::uint16_t>;
  // approximate limit of a block, which is processed without interruption
  constexpr std::uint64_t max_edges = 4 << 20;
  const auto edges_per_row = in.num_edges() / std::max<std::uint64_t>(1, in.num_rows()) + 1;
  // The rows of a block are updated together, from the previous ranks. In-place sweeps converge
  // slowly if a block contains a large part of the graph.
  const auto max_rows =
      tiles ? rows_of_tiles : std::clamp<std::uint64_t>(in.num_rows() / 128, 4, rows_of_groups);
  block_rows_ = std::clamp<std::uint64_t>(max_edges / edges_per_row, 1, max_rows);
  const auto num_segments = tiles ? (num_vertices + segment_size - 1) / segment_size : 1;
  auto& sources = sources_.template emplace < tiles ? 1 : 0 > (in.num_edges());
  blocks_.resize((in.num_rows() + block_rows_ - 1) / block_rows_);
  task::per_worker<tile_sorter> sorters(w.workers());
  const auto* const offsets = in.offsets().data();
  const auto* const targets = in.targets().data();
  const auto build_block = [&](worker_t k, block& b) {
    auto& s = sorters[k];
    const auto rows = b.last - b.first;
    s.at.assign(offsets + b.first, offsets + b.last);
    s.length.resize(rows);
    auto to = b.first_source;
    for (std::uint64_t segment = 0; segment < num_segments; ++segment) {
      const auto base = tiles ? segment * segment_size : 0;
      const auto limit = tiles ? base + segment_size : num_vertices;
      s.num_rows.assign(tile_sorter::counted, 0);
      s.longest.clear();
      for (std::uint64_t i = 0; i < rows; ++i) {
        const auto end = offsets[b.first + i + 1];
        auto at = s.at[i];
        if constexpr (tiles) {
          while (at < end && targets[at] < limit) ++at;
        } else {
          at = end;
        }
        s.length[i] = static_cast<std::uint32_t>(at - s.at[i]);
        if (s.length[i] < tile_sorter::counted) {
          ++s.num_rows[s.length[i]];
        } else {
          s.longest.push_back(i);
        }
      }
      // Positions of the rows of each length and of their sources.
      auto row_at = static_cast<std::uint32_t>(b.rows.size());
      if (tiles) s.num_rows[0] = 0;  // empty rows are omitted
      b.rows.resize(row_at +
                    std::accumulate(s.num_rows.begin(), s.num_rows.end(), s.longest.size()));
      const auto put = [&](std::uint64_t i, std::uint64_t source) {
        for (std::uint32_t j = 0; j < s.length[i]; ++j) {
          sources[source + j] = static_cast<Source>(targets[s.at[i] + j] - base);
        }
        s.at[i] += s.length[i];
      };
      for (const auto i : s.longest) {
        b.groups.push_back({static_cast<std::uint32_t>(segment), s.length[i], 1});
        b.rows[row_at++] = static_cast<std::uint16_t>(i);
        put(i, to);
        to += s.length[i];
      }
      std::vector<std::uint64_t> source_at(tile_sorter::counted);
      for (std::uint32_t length = 0; length < tile_sorter::counted; ++length) {
        const auto n = s.num_rows[length];
        if (n != 0) b.groups.push_back({static_cast<std::uint32_t>(segment), length, n});
        s.num_rows[length] = row_at;
        source_at[length] = to;
        row_at += n;
        to += std::uint64_t{n} * length;
      }
      for (std::uint64_t i = 0; i < rows; ++i) {
        const auto length = s.length[i];
        if ((tiles && length == 0) || length >= tile_sorter::counted) continue;
        b.rows[s.num_rows[length]++] = static_cast<std::uint16_t>(i);
        put(i, source_at[length]);
        source_at[length] += length;
      }
    }
  };
  w.parallel_for(
      blocks_.size(),
      [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          auto& b = blocks_[i];
          b.first = i * block_rows_;
          b.last = std::min<std::uint64_t>(in.num_rows(), b.first + block_rows_);
          b.first_source = offsets[b.first] - offsets[0];
          build_block(k, b);
        }
      },
      tiles ? 1 : 16);
}

template class pull_layout<std::uint32_t>;
template class pull_layout<std::uint64_t>;

}  // namespace cairn::algo
