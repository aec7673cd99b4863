// SPDX-License-Identifier: Apache-2.0
// Counts the vertices that are reachable from vertex 0 in a file's graph or a random one.
//
//   ./00_reach graph.mtx.gz --threads 2

#include <cstdint>
#include <variant>

#include <fmt/core.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world, auto arguments) {
    cairn::graph::source from = cairn::graph::generator{cairn::graph::uniform_graph{.scale = 16}};
    if (!arguments.empty()) from = arguments[0];
    const auto loaded = cairn::graph::load(world, from);
    const auto search = [&](const auto& graph) {  // vertex ids of 32 or 64 bits
      const auto result = cairn::algo::bfs(world, graph, {0});
      std::uint64_t here = 0;
      for (const auto parent : result.parent.local()) here += parent != result.parent.initial();
      const auto reached = world.sum(here);
      if (world.rank() == 0) {
        fmt::print("vertex 0 reaches {} of {} vertices\n", reached, graph.num_vertices());
      }
      const auto wrong = cairn::algo::verify_bfs(world, graph, {0}, result.parent);
      return wrong ? 1 : 0;
    };
    return std::visit(search, loaded.graph);
  });
}
