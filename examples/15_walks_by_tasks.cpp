// SPDX-License-Identifier: Apache-2.0
// Random walks by tasks over global arrays, as in [GMT14]: the program is
// examples/models/walks_by_tasks.hpp. cairn::algo::walk draws the same numbers, but sends each
// walker to the owner of its vertex.
//
//   ./15_walks_by_tasks --ranks 3

#include <cstdint>
#include <variant>

#include <fmt/core.h>

#include <cairn/algo/walk.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>

#include "models/walks_by_tasks.hpp"

namespace {

by_tasks::task<> nothing() { co_return; }

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    cairn::graph::generator random{cairn::graph::kronecker_graph{.scale = 12, .edge_factor = 8}};
    const auto loaded = cairn::graph::load(world, random);
    const auto& g = std::get<cairn::graph::dist_csr<by_tasks::vertex>>(loaded.graph);
    const auto n = g.num_vertices();
    cairn::pgas::global_memory memory(world);
    const auto visits = memory.collective_alloc<std::uint64_t>(n);
    const by_tasks::walks walks{by_tasks::copy_of(memory, g), visits, n / 2, 40, 7};
    world.run(world.rank() == 0 ? by_tasks::walk(&world, walks, 256) : nothing());
    world.barrier();

    const auto expected = cairn::algo::walk(world, g, {walks.walkers, walks.length, walks.key});
    const auto same = world.all_gather_values<std::uint64_t>(memory.view(visits).local()) ==
                      world.all_gather_values<std::uint64_t>(expected.visits.local());
    if (world.rank() == 0) fmt::print("{} steps of {} walks\n", expected.steps, walks.walkers);
    return same ? 0 : 1;
  });
}
