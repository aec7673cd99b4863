// SPDX-License-Identifier: Apache-2.0
// Breadth-first search by tasks over global arrays, as [GMT14] writes it: the program is
// examples/models/bfs_by_tasks.hpp. It is compared with a loop over a queue.
//
//   ./12_bfs_by_tasks --ranks 3

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>

#include "models/bfs_by_tasks.hpp"

namespace {

using by_tasks::vertex;
using graph = cairn::graph::dist_csr<vertex>;

std::vector<std::uint64_t> depths_by_a_loop(const std::vector<std::uint64_t>& degrees,
                                            const std::vector<vertex>& targets) {
  std::vector<std::uint64_t> first{0}, depths(degrees.size(), 0);
  for (const auto d : degrees) first.push_back(first.back() + d);
  std::vector<vertex> queue{0};
  depths[0] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto v = queue[i];
    for (auto e = first[v]; e < first[v + 1]; ++e) {
      if (depths[targets[e]] != 0) continue;
      depths[targets[e]] = depths[v] + 1;
      queue.push_back(targets[e]);
    }
  }
  return depths;
}

by_tasks::task<std::uint64_t> nothing() { co_return 0; }

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    cairn::graph::generator random{cairn::graph::uniform_graph{.scale = 13, .edge_factor = 8}};
    const auto loaded = cairn::graph::load(world, random);
    const auto& g = std::get<graph>(loaded.graph);
    cairn::pgas::global_memory memory(world);
    const auto search = by_tasks::search_of(memory, by_tasks::copy_of(memory, g));
    const bool searches = world.rank() == 0;
    const auto levels = world.run(searches ? by_tasks::bfs(&world, search, 0, 256) : nothing());
    world.barrier();
    if (searches) fmt::print("{} levels\n", levels);

    std::vector<std::uint64_t> degrees;
    for (auto v = g.out().first(); v < g.out().last(); ++v) degrees.push_back(g.out().degree(v));
    const auto expected = depths_by_a_loop(world.all_gather_values<std::uint64_t>(degrees),
                                           world.all_gather_values<vertex>(g.out().targets()));
    const auto found = world.all_gather_values<std::uint64_t>(memory.view(search.depths).local());
    const auto deepest = *std::max_element(expected.begin(), expected.end());
    return found == expected && (!searches || levels == deepest) ? 0 : 1;
  });
}
