// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

#include <bench/figures/figure.hpp>

namespace cairn::bench {

/// Blocking puts into a global array: [GMT14] figures 5 and 6.
struct put_sweep {
  std::vector<int> bytes{8, 16, 32, 64, 128};                       ///< of an element
  std::vector<std::uint64_t> tasks{1, 16, 256, 1024, 4096, 15360};  ///< of a rank
  std::uint64_t puts = 1 << 17;  ///< per putting rank, in a pass with many tasks
  std::vector<int> simulated{};  ///< numbers of ranks
  std::uint64_t simulated_puts = 1 << 14;
  int repeats = 7;  ///< of a pass on real ranks

  void add_to(argument_list& arguments);
};

/// Measures puts between `ranks` ranks, which are threads of this process. Each rank puts to the
/// next rank; with `one_to_all`, rank 0 puts to the others. Points: {"where": "local" or
/// "simulated", "ranks", "bytes", "tasks": 0 for one message per put, "mb_per_s": of the putting
/// ranks, "puts_per_buffer"}.
void measure_puts(const put_sweep& s, int ranks, bool one_to_all,
                  const figure::record_function& record);

/// measure_puts on a simulated cluster, with predicted times.
void predict_puts(const put_sweep& s, int ranks, bool one_to_all,
                  const figure::record_function& record);

}  // namespace cairn::bench
