// SPDX-License-Identifier: Apache-2.0
// Vertex programs as in Pregel: components, distances, PageRank. The model is built from Cairn's
// operators and epochs in examples/models/pregel.hpp.
//
//   ./04_pregel --ranks 3 --threads 2

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/core.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/components.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>

#include "models/pregel.hpp"

using pregel::vertex;

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    const cairn::graph::uniform_graph random{.scale = 12, .edge_factor = 2};
    const auto loaded = cairn::graph::load(world, cairn::graph::generator{random});
    const auto& g = std::get<pregel::graph>(loaded.graph);
    const auto tell_neighbors = [&](vertex v, auto text, auto& send) {
      for (const vertex u : g.out().neighbors(v)) send({u, text});
    };
    constexpr vertex none = cairn::no_vertex<vertex>;
    using least = cairn::minimum<vertex>;

    // A vertex sends the smallest id that it has received, then halts until it receives a smaller
    // one.
    cairn::pgas::vertex_map<vertex> label(world, g.partition(), none);
    pregel::run<least>(world, g, label,
                       [&](vertex v, vertex& mine, vertex heard, int step, auto& send) {
                         const vertex offered = step == 0 ? v : heard;
                         if (offered < mine) tell_neighbors(v, mine = offered, send);
                         return false;
                       });

    // Vertex 0 sends distance 1 to its neighbors, and so on.
    cairn::pgas::vertex_map<vertex> hops(world, g.partition(), none);
    const auto steps = pregel::run<least>(
        world, g, hops, [&](vertex v, vertex& mine, vertex heard, int step, auto& send) {
          const vertex offered = step == 0 && v == 0 ? 0 : heard;
          if (offered < mine) tell_neighbors(v, (mine = offered) + 1, send);
          return false;
        });

    // All vertices stay active for 50 steps.
    const auto n = static_cast<double>(g.num_vertices());
    cairn::pgas::vertex_map<double> rank(world, g.partition(), 1 / n);
    pregel::run<cairn::add<double>>(
        world, g, rank, [&](vertex v, double& mine, double contributions, int step, auto& send) {
          if (step > 0) mine = 0.15 / n + 0.85 * contributions;
          if (step == 50) return false;
          tell_neighbors(v, mine / static_cast<double>(g.out().degree(v)), send);
          return true;
        });

    const auto components = cairn::algo::components(world, g);
    const auto search = cairn::algo::bfs(world, g, {0}, {.depths = true});
    const auto ranks = cairn::algo::pagerank<double>(world, g, {.iterations = 60, .tolerance = 0});
    bool right = std::ranges::equal(label.local(), components.label.local()) &&
                 std::ranges::equal(hops.local(), search.depth->local());
    for (std::size_t i = 0; i < rank.local().size(); ++i) {
      right = right && std::abs(rank.local()[i] - ranks.rank.local()[i]) * n < 0.01;
    }
    if (world.rank() == 0) fmt::print("{} supersteps to the farthest vertex\n", steps);
    return world.any(!right) ? 1 : 0;
  });
}
