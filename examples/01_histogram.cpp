// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/vertex_map.hpp>

struct increment {  // the operator on one bin, run at its owner
  using message = std::size_t;
  const cairn::pgas::vertex_map<std::uint64_t>& bins;
  auto cell(message i) const { return bins.at(i); }
  void attempt(auto bin, message) const { bin.add(1); }
};
int histogram(cairn::world& world) {
  cairn::pgas::vertex_map<std::uint64_t> bins(world, {1000, world.size()}, 0);
  cairn::activity::executor increments(world, increment{bins});
  cairn::am::epoch epoch(world);
  world.parallel_for(1'000'000, [&](auto worker, auto begin, auto end) {
    increments.spawn(worker, [&](auto& send) {
      for (auto i = begin; i < end; ++i) send(i * i % 1000);
    });
  });
  epoch.close();  // all increments have been applied, on all ranks
  if (world.rank() == 0) std::printf("bin 0 holds %lu\n", bins.load(0));
  return world.rank() == 0 && bins.load(0) != 10'000u * world.size();
}
int main(int argc, char** argv) { return cairn::launch(argc, argv, histogram); }
