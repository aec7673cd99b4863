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

/// Which rows are built, from which arcs.
///
/// num_vertices  of the whole graph, at most 2^48; every id is below it
/// first, last   the rows: every arc's source is in [first, last)
/// keep_blocks   blocks are not modified; otherwise each is freed after it is read
/// progress      called repeatedly by worker 0 with the fraction done, 0 .. 1; may be empty
/// bucket_arcs   target size of a bucket: by default two arrays of keys take 1 MiB, about an L2
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
/// Each worker distributes its arcs to buckets of consecutive rows. The slabs of a bucket hold
/// targets and 16-bit row numbers within the bucket (as in propagation blocking). Then each bucket
/// is sorted in cache by a radix sort on (row, target), from its slabs into place, and moved down
/// if duplicates left gaps. No step costs a cache miss or an atomic operation per arc. Blocks are
/// freed once distributed, slabs once sorted.
///
/// Id, W     the types in all blocks; W = unweighted ignores their weights
/// Work      O(arcs log num_vertices / 11)
/// Memory    the largest of: blocks; slabs (6 bytes an unweighted 32-bit arc, plus a tenth); result
///           with its duplicates. Each replaces the previous one. In addition, that of
///           bucket_sorter
template <class Id, class W>
[[nodiscard]] csr<Id> build_rows(task::pool& workers, std::vector<io::edge_block>& blocks,
                                 const row_request& request);

}  // namespace cairn::graph::detail
