// SPDX-License-Identifier: Apache-2.0
// An operator that runs along the edges of a graph, from a file or random: each vertex receives the
// smallest of the vertices with an edge to it.
//
//   ./16_smallest_neighbor graph.mtx.gz --ranks 2

#include <variant>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/pgas/vertex_map.hpp>

template <class Id>
struct report_to {
  struct message {
    Id to, from;
  };
  const cairn::pgas::vertex_map<Id>& smallest;

  auto cell(const message& m) const { return smallest.at(m.to); }
  bool wanted(Id found, const message& m) const { return m.from < found; }
  bool attempt(auto cell, const message& m) const { return m.from < cell.lower(m.from); }
};

// Returns the number of vertices of this rank whose result is wrong.
template <class Id>
std::uint64_t run(cairn::world& world, const cairn::graph::dist_csr<Id>& graph) {
  cairn::pgas::vertex_map<Id> smallest(world, graph.partition(), cairn::no_vertex<Id>);
  cairn::activity::executor reports(world, report_to<Id>{smallest});

  cairn::am::epoch epoch(world);
  world.parallel_for(graph.out().num_rows(), [&](cairn::worker_t k, auto begin, auto end) {
    reports.spawn(k, [&](auto& send) {
      for (auto i = begin; i < end; ++i) {
        const auto v = static_cast<Id>(graph.out().first() + i);
        for (const auto u : graph.out().neighbors(v)) send({u, v});
      }
    });
  });
  epoch.close();

  std::uint64_t wrong = 0;
  for (auto v = graph.in().first(); v < graph.in().last(); ++v) {
    const auto sources = graph.in().neighbors(v);  // ascending
    wrong += smallest.load(v) != (sources.empty() ? smallest.initial() : sources.front());
  }
  return wrong;
}

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world, auto arguments) {
    cairn::graph::source from = cairn::graph::generator{cairn::graph::uniform_graph{.scale = 14}};
    if (!arguments.empty()) from = arguments[0];
    const auto loaded = cairn::graph::load(world, from, {.build = {.inverse = true}});
    const auto here =
        std::visit([&](const auto& graph) { return run(world, graph); }, loaded.graph);
    const auto wrong = world.sum(here);
    if (world.rank() == 0) fmt::print("{} vertices are wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
  });
}
