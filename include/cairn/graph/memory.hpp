// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <cairn/base/types.hpp>

namespace cairn {
class world;
}

namespace cairn::graph {

/// Determines the memory that building a graph takes.
///
/// num_edges     before duplicates and self-loops are dropped
/// id_bytes      4 or 8
/// weight_bytes  per edge; 0 without weights
/// symmetric     each edge is stored in both directions, in one set of rows
/// inverse       in-rows are stored as well as out-rows (directed graphs)
/// balanced      vertices are divided by edges (partition_kind::edges), for which each of several
///               ranks counts the degrees of all vertices
/// with_edges    the edges themselves have yet to be created (by a generator)
struct build_size {
  std::uint64_t num_vertices = 0;
  std::uint64_t num_edges = 0;
  unsigned id_bytes = 4;
  unsigned weight_bytes = 0;
  bool symmetric = false;
  bool inverse = false;
  bool balanced = false;
  bool with_edges = false;
};

/// Peak bytes of the build on each of `ranks` ranks; 2^64 - 1 if that is exceeded.
[[nodiscard]] std::uint64_t bytes_to_build(const build_size& size, rank_t ranks);

/// Checks that every machine has enough memory for its ranks.
///
/// bytes     needed by each rank, the same on every rank
/// subject   the subject of the error sentence: "a graph"
/// Throws    usage_error on every rank: one sentence with the needed and the available memory.
/// Collective.
void expect_memory_for(world& w, std::uint64_t bytes, const std::string& subject);
/// The same for building a graph, and then for 16 bytes a vertex beside it, as most results have.
///
/// declared_at   as in raw_edges
void expect_memory_for(world& w, const build_size& size, const std::string& declared_at = {});

}  // namespace cairn::graph
