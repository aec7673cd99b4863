// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <bench/figures/figure.hpp>
#include <bench/figures/paths.hpp>

namespace cairn::bench {

/// Distributed Control against the size of message buffers: figures 3 and 4 of [DC15].
struct coalescing_sweep {
  paths_job job;
  std::vector<std::string> graphs{"kronecker", "uniform", "grid"};
  std::vector<std::size_t> buffers{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
  std::vector<int> local{2, 4};      ///< numbers of ranks
  std::vector<int> simulated{2, 8};  ///< on a cluster with a network of default costs
  int simulated_scale = 11;          ///< log2 of the vertices there
  std::vector<int> longest;          ///< weights are random in 1..longest; 1: breadth-first search

  void add_to(argument_list& arguments);
};

/// For each graph, longest weight and number of ranks: a point per size and one for the runtime's
/// choice, on local ranks by alternating runs; then the choice compared with the fastest size.
void measure_buffers(harness& h, const coalescing_sweep& s, const figure::record_function& record);

}  // namespace cairn::bench
