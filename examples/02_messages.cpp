// SPDX-License-Identifier: Apache-2.0
// Every rank sends a greeting to rank 0, which prints their number.
//
//   ./02_messages                   one rank
//   ./02_messages --ranks 3         three processes on this machine
//   mpiexec -n 3 ./02_messages      three processes on a cluster

#include <atomic>
#include <span>

#include <fmt/core.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    struct greeting {
      cairn::rank_t from;
    };
    std::atomic<int> received = 0;  // handlers run on several workers at once
    cairn::am::channel<greeting> greetings(world, [&](auto, std::span<const greeting> batch) {
      received += static_cast<int>(batch.size());
    });

    cairn::am::epoch epoch(world);
    greetings.send(cairn::main_worker, 0, {world.rank()});  // from worker 0 to rank 0
    epoch.close();  // all greetings have been handled, on all ranks

    if (world.rank() != 0) return 0;
    fmt::print("{} of {} ranks said hello\n", received.load(), world.size());
    return received == world.size() ? 0 : 1;
  });
}
