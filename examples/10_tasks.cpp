// SPDX-License-Identifier: Apache-2.0
// Tasks of rank 0 search for the longest Collatz sequence on all ranks.
//
//   ./10_tasks                one rank
//   ./10_tasks --ranks 3      three processes on this machine

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/call.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

namespace {

using cairn::task::task;

struct sequence {
  std::uint64_t length = 0, start = 0;
  friend auto operator<=>(const sequence&, const sequence&) = default;
};

std::uint64_t length_from(std::uint64_t x) {
  std::uint64_t length = 1;
  for (; x != 1; ++length) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  return length;
}

// Runs at the rank that is called.
task<sequence> longest(std::uint64_t first, std::uint64_t last) {
  sequence best;
  for (auto x = first; x < last; ++x) {
    best = std::max(best, {length_from(x), x});
    if (x % 256 == 0) co_await cairn::task::pause();  // other tasks and messages
  }
  co_return best;
}

task<sequence> ask(cairn::world* world, cairn::rank_t rank, std::uint64_t first,
                   std::uint64_t last) {
  co_return co_await world->call<&longest>(rank, first, last);
}

task<sequence> search(cairn::world* world, std::uint64_t n, std::uint64_t block) {
  std::vector<task<sequence>> parts;
  for (std::uint64_t first = 1; first < n; first += block) {
    const auto rank = static_cast<cairn::rank_t>(parts.size()) % world->size();
    parts.push_back(ask(world, rank, first, std::min(n, first + block)));
  }
  const auto found = co_await cairn::task::when_all(std::move(parts));
  co_return *std::max_element(found.begin(), found.end());
}

task<sequence> nothing() { co_return sequence{}; }

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    const auto found = world.run(world.rank() == 0 ? search(&world, 100'000, 1'000) : nothing());
    if (world.rank() != 0) return 0;
    fmt::print("{} numbers from {} to 1\n", found.length, found.start);
    return found.start == 77'031 ? 0 : 1;
  });
}
