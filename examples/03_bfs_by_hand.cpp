// SPDX-License-Identifier: Apache-2.0
// Breadth-first search with one operator, on a grid whose rows are distributed over the ranks.
// cairn/algo/bfs.hpp does the same and also changes direction.
//
//   ./03_bfs_by_hand --ranks 3

#include <vector>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>

namespace {

using vertex = std::uint32_t;
constexpr vertex side = 300, unreached = cairn::no_vertex<vertex>;

struct visit {
  struct message {
    vertex v, depth;
  };
  static constexpr bool permanent = true;  // once `wanted` is false, it stays false
  const cairn::pgas::vertex_map<vertex>& depths;
  cairn::task::per_worker<std::vector<vertex>>& next;

  auto cell(const message& m) const { return depths.at(m.v); }
  bool wanted(vertex depth, const message&) const { return depth == unreached; }
  bool attempt(auto depth, const message& m) const {
    return depth.claim(unreached, m.depth) == unreached;
  }
  void after(const message& m, auto& at) { next[at.worker()].push_back(m.v); }
};

void visit_neighbors(vertex v, vertex depth, auto& send) {
  const vertex x = v % side, y = v / side;
  if (x > 0) send({v - 1, depth});
  if (x + 1 < side) send({v + 1, depth});
  if (y > 0) send({v - side, depth});
  if (y + 1 < side) send({v + side, depth});
}

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    cairn::pgas::vertex_map<vertex> depths(world, {side * side, world.size()}, unreached);
    cairn::task::per_worker<std::vector<vertex>> next(world.workers());
    cairn::activity::executor visits(world, visit{depths, next});

    std::vector<vertex> frontier;
    if (depths.owns(0)) {
      depths.store(0, 0);
      frontier.push_back(0);
    }
    vertex level = 0;
    for (; world.any(!frontier.empty()); ++level) {
      cairn::am::epoch epoch(world);
      world.parallel_for(frontier.size(), [&](cairn::worker_t k, auto begin, auto end) {
        visits.spawn(k, [&](auto& send) {
          for (auto i = begin; i < end; ++i) visit_neighbors(frontier[i], level + 1, send);
        });
      });
      epoch.close();
      frontier.clear();
      for (auto& part : next) {
        frontier.insert(frontier.end(), part.value.begin(), part.value.end());
        part.value.clear();
      }
    }
    if (world.rank() == 0) fmt::print("{} levels from corner to corner\n", level - 1);
    return level - 1 == 2 * (side - 1) ? 0 : 1;
  });
}
