// SPDX-License-Identifier: Apache-2.0
//
// A graph from arrays instead of a file: each rank supplies a part of a ring of 10 people. All
// ranks run a search on it from person 103.
#include <cstdint>
#include <cstdio>
#include <span>
#include <variant>
#include <vector>

#include <cairn/algo/bfs.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/graph/from_edges.hpp>

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    std::vector<std::uint32_t> from, to;
    for (auto i = static_cast<std::uint32_t>(world.rank()); i < 10;
         i += static_cast<std::uint32_t>(world.size())) {
      from.push_back(100 + i);
      to.push_back(100 + (i + 1) % 10);
    }
    const auto any = cairn::graph::from_edges(world, std::span<const std::uint32_t>(from),
                                              std::span<const std::uint32_t>(to));
    const auto& graph = std::get<cairn::graph::dist_csr<std::uint32_t>>(any);
    const auto start = graph.labels().vertex_of("103");
    if (!start) return 1;

    const auto found = cairn::algo::bfs<std::uint32_t>(
        world, graph, static_cast<std::uint32_t>(*start), {.depths = true});
    std::uint64_t farthest = 0;
    for (const auto depth : found.depth->local()) {
      farthest = depth > farthest ? depth : farthest;
    }
    farthest = world.max(farthest);
    if (world.rank() == 0) {
      std::printf("the last of %llu people is %llu steps away\n",
                  static_cast<unsigned long long>(graph.num_vertices()),
                  static_cast<unsigned long long>(farthest));
    }
    return graph.num_vertices() == 10 && farthest == 9 ? 0 : 1;
  });
}
