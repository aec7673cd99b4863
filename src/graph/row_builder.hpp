// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <graph/arcs.hpp>
#include <vector>

#include <cairn/graph/csr.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::detail {

/// Which rows are built, and of what.
///
/// num_vertices  of the whole graph, at most 2^48: every id is below it
/// first, last   the rows: every arc's source is in [first, last)
/// keep_blocks   blocks stay as they are; else each is freed as soon as it has been read
/// progress      called now and then by worker 0 with the part that is done, 0 .. 1; may be empty
/// bucket_arcs   arcs wanted in a bucket: by default their keys, twice, are 1 MB, about an L2
struct row_request {
  std::uint64_t num_vertices = 0;
  std::uint64_t first = 0, last = 0;
  direction arcs = direction::out;
  bool drop_self_loops = false;
  bool drop_duplicates = false;
  bool keep_blocks = false;
  std::uint64_t bucket_arcs = 1 << 16;
  std::function<void(double)> progress = {};
};

/// The rows of this rank from blocks of edges, sorted by target and then weight.
///
/// Each worker deals its arcs to buckets of neighbouring rows: piles of slabs that hold targets
/// and, in 16 bits, the row's number in its bucket (as in propagation blocking). Then each
/// bucket is sorted in cache by a radix sort on (row, target), from its slabs into place, and
/// moved down where duplicates left gaps. No step costs a cache miss or an atomic operation per
/// arc. Blocks go as they are dealt, slabs as they are sorted.
///
/// Id, W     of all blocks; W = unweighted leaves their weights out
/// Work      O(arcs log num_vertices / 11)
/// Memory    the most of: blocks; slabs (6 bytes an unweighted 32-bit arc, and a tenth); result
///           with its duplicates. One turns into the next. And see bucket_sorter.
template <class Id, class W>
[[nodiscard]] csr<Id> build_rows(task::pool& workers, std::vector<io::edge_block>& blocks,
                                 const row_request& request);

}  // namespace cairn::graph::detail
