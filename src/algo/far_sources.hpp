// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/graph/csr.hpp>

namespace cairn::algo {

/// Whether most sources in a sample of rows are far from their row, so that preceding rows have not
/// brought them into the cache.
///
/// Work      the entries of about 1,024 rows
template <class Id>
[[nodiscard]] bool sources_are_far(const graph::csr<Id>& in) {
  constexpr std::uint64_t sample = 1024, near = 1 << 16;
  std::uint64_t edges = 0, far = 0;
  for (auto v = in.first(); v < in.last(); v += in.num_rows() / sample + 1) {
    for (const Id u : in.neighbors(v)) {
      far += (u > v ? u - v : v - u) >= near ? 1 : 0;
      ++edges;
    }
  }
  return 2 * far > edges;
}

/// Whether most values of the sources of in-edges, in the order of the rows, miss a core's second
/// cache: half of the accesses to twice as many values as it has lines touch a new line. Hubs and
/// locality reduce the number of lines.
///
/// num_vertices  of the whole graph
/// value_bytes   of one source
/// Work          65,536 edges
template <class Id>
[[nodiscard]] bool sources_miss_cache(const graph::csr<Id>& in, std::uint64_t num_vertices,
                                      std::size_t value_bytes) {
  constexpr std::uint64_t cache_lines = (2 << 20) / cache_line, accesses = 2 * cache_lines;
  constexpr std::uint64_t pieces = 16;  // of consecutive edges, spread over the graph
  const auto per_line = cache_line / value_bytes;
  const auto targets = in.num_edges() == 0
                           ? in.targets().first(0)
                           : in.targets().subspan(in.offsets().front(), in.num_edges());
  const auto num_lines = num_vertices / per_line + 1;
  if (num_lines <= cache_lines || targets.size() < accesses) return false;
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
