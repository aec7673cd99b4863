// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cairn/algo/ref/mst.hpp>

namespace cairn::algo::ref {

/// The representation of a graph for judges.
struct input {
  std::uint64_t num_vertices = 0;
  bool directed = false;
  std::vector<weighted_edge> edges;  ///< an undirected edge once; of weight 1 if there are no
                                     ///< weights
  /// an undirected edge in both directions
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;
};

/// The result of a run, from all ranks. Numbers and booleans are doubles; no_vertex is the largest
/// 64-bit number.
struct output {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> integers;
  std::map<std::string, std::vector<double>, std::less<>> real;
};

}  // namespace cairn::algo::ref
