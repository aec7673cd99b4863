// SPDX-License-Identifier: Apache-2.0
// Many chains of pointers through a table on all ranks, each followed by a task. While a chain
// waits for another rank, or for memory, its worker follows others.
//
//   ./13_pointer_chase --ranks 3

#include <cstdint>

#include <fmt/core.h>

#include <cairn/am/parallel_for.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/pgas/global_view.hpp>

namespace {

using cairn::pgas::global_array;
using cairn::pgas::global_memory;
using cairn::task::task;

constexpr std::uint64_t elements = 1 << 18, chains = 2'000, length = 64;

// Visits all elements, in an order without locality.
std::uint64_t after(std::uint64_t i) { return (i * 0x9e3779b97f4a7c15u + 12'345) % elements; }

task<> follow(cairn::world& world, std::uint64_t begin, std::uint64_t end,
              global_array<std::uint64_t> next, global_array<std::uint64_t> ends) {
  auto& memory = global_memory::of(world);
  const auto pointers = memory.view(next);
  for (auto chain = begin; chain < end; ++chain) {
    auto at = chain;
    for (std::uint64_t step = 0; step < length; ++step) at = co_await pointers.get(at);
    co_await memory.view(ends).put(chain, at);
  }
}

task<> follow_all(cairn::world* world, global_array<std::uint64_t> next,
                  global_array<std::uint64_t> ends) {
  if (world->rank() != 0) co_return;
  co_await world->parallel_for<&follow>(chains, cairn::am::loop_options{.chunk = 1}, next, ends);
}

}  // namespace

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    global_memory memory(world);
    const auto next = memory.collective_alloc<std::uint64_t>(elements);
    const auto ends = memory.collective_alloc<std::uint64_t>(chains);
    const auto pointers = memory.view(next), found = memory.view(ends);
    for (std::size_t k = 0; k < pointers.local().size(); ++k) {
      pointers.local()[k] = after(pointers.layout().element(world.rank(), k));
    }
    world.barrier();
    world.run(follow_all(&world, next, ends));
    world.barrier();

    std::uint64_t wrong = 0;
    for (std::size_t k = 0; k < found.local().size(); ++k) {
      auto at = found.layout().element(world.rank(), k);
      for (std::uint64_t step = 0; step < length; ++step) at = after(at);
      wrong += found.local()[k] != at ? 1 : 0;
    }
    wrong = world.sum(wrong);
    if (world.rank() == 0) fmt::print("{} of {} chains end elsewhere\n", wrong, chains);
    return wrong == 0 ? 0 : 1;
  });
}
