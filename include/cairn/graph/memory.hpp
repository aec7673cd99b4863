// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <cairn/base/types.hpp>

namespace cairn {
class world;
}

namespace cairn::graph {

/// What building a graph takes, before it is built.
///
/// num_edges     as given, before duplicates and self-loops go
/// id_bytes      4 or 8
/// weight_bytes  per edge; 0 without
/// symmetric     each edge is stored both ways, in one set of rows
/// inverse       sources are stored as well as targets (directed graphs)
/// with_edges    the edges themselves are still to be made (by a generator)
struct build_size {
  std::uint64_t num_vertices = 0;
  std::uint64_t num_edges = 0;
  unsigned id_bytes = 4;
  unsigned weight_bytes = 0;
  bool symmetric = false;
  bool inverse = false;
  bool with_edges = false;
};

/// Bytes at the peak of the build on each of `ranks` ranks; 2^64 - 1 if it is more than that.
[[nodiscard]] std::uint64_t bytes_to_build(const build_size& size, rank_t ranks);

/// Returns if every machine has memory for the ranks that it runs.
///
/// bytes     that each rank needs, the same on every rank
/// what      needs them: "a graph", the subject of the sentence
/// Throws    usage_error on every rank: one sentence with what is needed and what there is.
/// Collective.
void expect_memory_for(world& w, std::uint64_t bytes, const std::string& what);
void expect_memory_for(world& w, const build_size& size);

/// "3.1 GB": three digits in decimal units.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace cairn::graph
