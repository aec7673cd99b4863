// SPDX-License-Identifier: Apache-2.0
// Shortest paths on a grid without barriers, after algorithm 1 of [DC15]: each worker takes the
// nearest vertex of its own queue, and the loop itself asks whether all ranks have finished.
// 03_bfs_by_hand.cpp has the other style: an epoch per step, which the body closes.
//   ./11_without_barriers --ranks 3 --threads 2

#include <functional>
#include <queue>
#include <vector>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>

using vertex = std::uint32_t;
constexpr vertex side = 200, unreached = cairn::no_vertex<vertex>;

struct reached {
  vertex distance, v;
  auto operator<=>(const reached&) const = default;
};
using queue = std::priority_queue<reached, std::vector<reached>, std::greater<>>;

struct relax {
  using message = reached;
  cairn::world& world;
  const cairn::pgas::vertex_map<vertex>& distances;
  cairn::task::per_worker<queue>& queues;

  auto cell(const message& m) const { return distances.at(m.v); }
  bool wanted(vertex distance, const message& m) const { return m.distance < distance; }
  bool attempt(auto cell, const message& m) const { return m.distance < cell.lower(m.distance); }
  void after(const message& m, auto& at) {
    cairn::am::hold(world, at.worker());  // the entry will send, so the epoch waits for it
    queues[at.worker()].push(m);
  }
};

// The edge from i to i + 1, in a row or a column.
vertex length(vertex i) { return 1 + i % 3; }

void relax_edges(const reached& from, auto& send) {
  const vertex v = from.v, x = v % side, y = v / side, d = from.distance;
  if (x > 0) send({d + length(x - 1), v - 1});
  if (x + 1 < side) send({d + length(x), v + 1});
  if (y > 0) send({d + length(y - 1), v - side});
  if (y + 1 < side) send({d + length(y), v + side});
}

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    cairn::pgas::vertex_map<vertex> distances(world, {side * side, world.size()}, unreached);
    cairn::task::per_worker<queue> queues(world.workers());
    cairn::activity::executor relaxations(world, relax{world, distances, queues});
    cairn::am::epoch epoch(world);
    if (distances.owns(0)) relaxations.spawn(cairn::main_worker, [](auto& send) { send({0, 0}); });
    world.run([&](cairn::worker_t k) {
      using enum cairn::am::worker_activity;
      for (auto& mine = queues[k]; !epoch.try_close(k, mine.empty() ? idle : busy);) {
        if (mine.empty()) continue;
        const auto nearest = mine.top();
        mine.pop();
        const bool current = distances.load(nearest.v) == nearest.distance;
        if (current) relaxations.spawn(k, [&](auto& send) { relax_edges(nearest, send); });
        epoch.release(k);
      }
    });
    epoch.close();
    vertex wrong = 0, along[side] = {};
    for (vertex i = 1; i < side; ++i) along[i] = along[i - 1] + length(i - 1);
    for (auto v = distances.first(); distances.owns(v); ++v) {
      wrong += distances.load(v) != along[v % side] + along[v / side];
    }
    if (world.rank() == 0) fmt::print("{} from corner to corner\n", 2 * along[side - 1]);
    return world.any(wrong != 0) ? 1 : 0;
  });
}
