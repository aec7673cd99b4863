// SPDX-License-Identifier: Apache-2.0
#include <cairn/core/world.hpp>
#include <cairn/graph/exchange.hpp>

namespace cairn::graph {

exchange::exchange(world& w)
    : exchange(
          w.pool(), w.rank(), w.size(),
          [&w](std::span<const std::byte> mine) { return w.all_gather_bytes(mine); },
          [&w](const std::function<void()>& f) { w.agree(f); }) {}

exchange::exchange(task::pool& workers)
    : exchange(
          workers, 0, 1,
          [](std::span<const std::byte> mine) {
            return std::vector<bytes>{bytes(mine.begin(), mine.end())};
          },
          [](const std::function<void()>& f) { f(); }) {}

}  // namespace cairn::graph
