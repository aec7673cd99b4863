// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>

#include <cairn/core/world.hpp>

// Two workers and a collective: needs the threads, and every layer up to core.
int main() {
  cairn::world world(2);
  std::atomic<std::uint64_t> sum = 0;
  world.parallel_for(1000, [&](cairn::worker_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sum += i;
  });
  return world.sum(sum.load()) == 499'500 ? 0 : 1;
}
