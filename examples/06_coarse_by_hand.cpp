// SPDX-License-Identifier: Apache-2.0
// An operator that is coarse by design: it increments a whole group of counters atomically. Its
// cost depends on the choice of groups, as the number of locks and the time show.
//
//   ./06_coarse_by_hand --ranks 2 --threads 2

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace activity = cairn::activity;
// Elements of this rank in groups of consecutive list entries; the last may be smaller.
struct groups {
  std::vector<std::uint32_t> elements;
  std::size_t length;

  std::size_t size() const { return (elements.size() + length - 1) / length; }
  std::span<const std::uint32_t> operator[](std::size_t g) const {
    const auto first = g * length;
    return std::span(elements).subspan(first, std::min(length, elements.size() - first));
  }
};

struct raise {
  struct message {
    std::size_t group;
  };
  const groups& chosen;
  const cairn::pgas::vertex_map<std::uint32_t>& counters;

  void elements(const message& m, auto&& each) const {
    for (const auto id : chosen[m.group]) each(counters.at(id));
  }
  void attempt(auto& tx, const message& m) const {
    for (const auto id : chosen[m.group]) tx.write(counters, id, tx.read(counters, id) + 1);
  }
};

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    constexpr std::uint32_t n = 1 << 16;
    cairn::pgas::vertex_map<std::uint32_t> counters(world, {n, world.size()}, 0);
    std::vector<std::uint32_t> own(counters.local().size());
    std::iota(own.begin(), own.end(), static_cast<std::uint32_t>(counters.first()));

    // Increments every counter once, in groups; returns the number of locks taken on all ranks.
    const auto locks_for = [&](const char* name, const groups& chosen) {
      activity::domain data(world, {.mechanism = activity::mechanism::locks});
      activity::executor raises(data, raise{chosen, counters});
      const auto start = world.clock().now_ns();
      cairn::am::epoch epoch(world);
      world.parallel_for(chosen.size(), [&](cairn::worker_t k, std::size_t begin, std::size_t end) {
        raises.spawn(k, [&](auto& send) {
          for (auto g = begin; g < end; ++g) send({g});
        });
      });
      epoch.close();
      const auto us = (world.clock().now_ns() - start) / 1000;
      const auto locks = world.sum(data.locks_taken());
      if (world.rank() == 0) fmt::print("{:<12} {:>6} locks, {} us\n", name, locks, us);
      return locks;
    };
    const auto single = locks_for("one by one", {own, 1});
    const auto blocks = locks_for("blocks of 64", {own, 64});  // four cache lines each
    auto shuffled = own;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
    const auto random = locks_for("64 at random", {shuffled, 64});
    const bool all = std::ranges::count(counters.local(), 3u) == std::ssize(own);
    return world.any(!all || 8 * blocks > random || 8 * blocks > single) ? 1 : 0;
  });
}
