// SPDX-License-Identifier: Apache-2.0
// An operator that returns a value and may fail: all ranks request more seats than there are, and
// each worker learns which of its requests were granted.
//
//   ./09_reserve --ranks 2 --threads 2

#include <utility>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>

namespace {

constexpr std::uint32_t num_flights = 500, seats = 100;

struct reserve {
  struct message {
    std::uint32_t flight;
  };
  const cairn::pgas::vertex_map<std::uint32_t>& taken;
  cairn::task::per_worker<std::uint64_t>& granted;

  auto cell(const message& m) const { return taken.at(m.flight); }
  bool wanted(std::uint32_t n, const message&) const { return n < seats; }
  cairn::activity::outcome<std::uint32_t> attempt(auto cell, const message&) const {
    for (auto n = cell.load(); n < seats;) {
      const auto found = cell.claim(n, n + 1);
      if (std::exchange(n, found) == found) return {true, found};  // the number of the seat
    }
    return {false, 0};
  }
  void answer(const message&, const cairn::activity::outcome<std::uint32_t>& seat, auto& at) {
    granted[at.worker()] += seat.done;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    cairn::pgas::vertex_map<std::uint32_t> taken(world, {num_flights, world.size()}, 0);
    cairn::task::per_worker<std::uint64_t> granted(world.workers());
    cairn::activity::executor requests(world, reserve{taken, granted});

    cairn::am::epoch epoch(world);
    world.parallel_for(2 * seats * num_flights, [&](cairn::worker_t k, auto begin, auto end) {
      requests.spawn(k, [&](auto& send) {
        for (auto i = begin; i < end; ++i) send({static_cast<std::uint32_t>(i % num_flights)});
      });
    });
    epoch.close();  // all requests have been answered

    std::uint64_t here = 0;
    for (auto& of_worker : granted) here += of_worker.value;
    const auto all = world.sum(here);
    if (world.rank() == 0) fmt::print("{} seats were granted\n", all);
    return all == std::uint64_t{seats} * num_flights ? 0 : 1;
  });
}
