// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <cairn/algo/ref/mst.hpp>

namespace cairn::algo::ref {

/// A graph as judges take it.
struct input {
  std::uint64_t num_vertices = 0;
  bool directed = false;
  std::vector<weighted_edge> edges;  ///< an undirected edge once; of weight 1 if there are none
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;  ///< an undirected edge both ways
};

/// What was found, on all ranks. Numbers and truth values are doubles; a vertex that is none is the
/// greatest number of 64 bits.
struct output {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> whole;
  std::map<std::string, std::vector<double>, std::less<>> real;
};

}  // namespace cairn::algo::ref
