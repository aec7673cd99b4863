// SPDX-License-Identifier: Apache-2.0
// A histogram over all ranks: each rank draws numbers, and sends each to the rank that owns its
// bin. Adds of one word are an operator; the runtime coalesces the messages and picks what
// makes the adds atomic.
//
//   ./02_histogram --ranks 2 --threads 2

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/vertex_map.hpp>

struct increment {
  struct message {
    std::uint32_t bin;
  };
  const cairn::pgas::vertex_map<std::uint64_t>& bins;

  auto cell(const message& m) const { return bins.at(m.bin); }
  bool wanted(std::uint64_t, const message&) const { return true; }
  void attempt(auto bin, const message&) const { bin.add(1); }
};

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    constexpr std::uint32_t num_bins = 1000;
    constexpr std::size_t draws = 1'000'000;  // on each rank
    cairn::pgas::vertex_map<std::uint64_t> bins(world, {num_bins, world.size()}, 0);
    cairn::activity::executor increments(world, increment{bins}, {.sent_filter = false});

    cairn::am::epoch epoch(world);
    world.parallel_for(draws, [&](cairn::worker_t k, std::size_t begin, std::size_t end) {
      increments.spawn(k, [&](auto& send) {
        for (auto i = begin; i < end; ++i) {
          cairn::random64 draw(static_cast<std::uint64_t>(world.rank()), i);
          send({static_cast<std::uint32_t>((draw.below(num_bins) + draw.below(num_bins)) / 2)});
        }
      });
    });
    epoch.close();

    std::uint64_t here = 0, highest = 0;
    for (const auto count : bins.local()) {
      here += count;
      highest = std::max(highest, count);
    }
    const auto total = world.sum(here);
    highest = world.max(highest);
    if (world.rank() == 0) fmt::print("{} numbers, at most {} in one bin\n", total, highest);
    return total == draws * static_cast<std::uint64_t>(world.size()) ? 0 : 1;
  });
}
