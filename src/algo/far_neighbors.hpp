// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/graph/csr.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn::algo {

/// The share of entries, in a sample of rows, that are at least `near` ids from their row; 0
/// without entries.
///
/// Work      the entries of about 1,024 rows
template <class Id>
[[nodiscard]] double share_of_far_neighbors(const graph::csr<Id>& rows, std::uint64_t near) {
  constexpr std::uint64_t sample = 1024;
  std::uint64_t edges = 0, far = 0;
  for (auto v = rows.first(); v < rows.last(); v += rows.num_rows() / sample + 1) {
    for (const Id u : rows.neighbors(v)) {
      far += (u > v ? u - v : v - u) >= near ? 1 : 0;
      ++edges;
    }
  }
  return edges == 0 ? 0 : static_cast<double>(far) / static_cast<double>(edges);
}

/// Whether most values of the sources of in-edges, in the order of the rows, miss a core's second
/// cache: half of the accesses to twice as many values as it has lines touch a new line. Hubs and
/// locality reduce the number of lines.
///
/// num_vertices  of the whole graph
/// value_bytes   of one source
/// cache_bytes   of the second cache
/// Work          two edges per line of the cache
template <class Id>
[[nodiscard]] bool sources_miss_cache(const graph::csr<Id>& in, std::uint64_t num_vertices,
                                      std::size_t value_bytes,
                                      std::size_t cache_bytes = hw::second_cache_bytes()) {
  const std::uint64_t cache_lines = cache_bytes / cache_line, accesses = 2 * cache_lines;
  constexpr std::uint64_t pieces = 16;  // of consecutive edges, spread over the graph
  const auto per_line = cache_line / value_bytes;
  const auto num_lines = num_vertices / per_line + 1;
  if (num_lines <= cache_lines || in.num_edges() < accesses) return false;
  const auto targets = in.targets().subspan(in.offsets().front(), in.num_edges());
  std::vector<bool> touched(num_lines);
  std::uint64_t lines = 0;
  for (std::uint64_t p = 0; p < pieces; ++p) {
    const auto piece = targets.subspan(targets.size() / pieces * p, accesses / pieces);
    for (const Id u : piece) {
      lines += touched[u / per_line] ? 0 : 1;
      touched[u / per_line] = true;
    }
  }
  return 2 * lines > accesses;
}

}  // namespace cairn::algo
