// SPDX-License-Identifier: Apache-2.0
// Every rank sends a greeting to rank 0, which prints their number.
//
//   ./02_messages                   one rank
//   ./02_messages --ranks 3         three processes on this machine
//   mpiexec -n 3 ./02_messages      three processes on a cluster

#include <fmt/core.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    struct greeting {
      cairn::rank_t from;
    };
    std::vector<cairn::rank_t> received;
    cairn::am::channel<greeting> greetings(world, [&](auto, auto batch) {
      for (const greeting& g : batch) received.push_back(g.from);
    });

    cairn::am::epoch epoch(world);
    greetings.send(cairn::main_worker, 0, {world.rank()});  // from worker 0 to rank 0
    epoch.close();  // all greetings have been handled, on all ranks

    if (world.rank() == 0) fmt::print("{} of {} ranks said hello\n", received.size(), world.size());
    return 0;
  });
}
