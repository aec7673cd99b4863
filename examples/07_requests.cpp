// SPDX-License-Identifier: Apache-2.0
// Each rank reads random elements of a table that is distributed over all ranks, then sends rank 0
// a text about what it has read.
//
//   ./07_requests                one rank
//   ./07_requests --ranks 3      three processes on this machine

#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/launch.hpp>

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    constexpr std::uint64_t own = 1 << 16, reads = 1 << 18;
    const auto ranks = static_cast<std::uint64_t>(world.size());
    const auto rank = static_cast<std::uint64_t>(world.rank());
    std::vector<double> table(own), copies(reads, -1);
    for (std::uint64_t i = 0; i < own; ++i) table[i] = 0.5 * static_cast<double>(rank * own + i);
    const auto wanted = [&](std::uint64_t place) {
      return cairn::mix64(rank * reads + place) % (ranks * own);
    };

    cairn::am::request<std::uint64_t, double> get(
        world, [&](auto, std::uint64_t i) { return table[i % own]; },
        [&](auto, std::uint64_t place, double value) { copies[place] = value; });

    cairn::am::epoch reading(world);
    world.parallel_for(reads, [&](cairn::worker_t k, std::size_t begin, std::size_t end) {
      auto ask = get.from(k);
      for (auto place = begin; place < end; ++place) {
        const auto i = wanted(place);
        ask(static_cast<cairn::rank_t>(i / own), i, cairn::am::slot(place));
      }
    });
    reading.close();  // all answers have been received, on all ranks

    std::uint64_t wrong = 0;
    for (std::uint64_t s = 0; s < reads; ++s) {
      wrong += copies[s] != 0.5 * static_cast<double>(wanted(s));
    }

    cairn::am::record_channel says(world, [](auto, cairn::am::record_batch records) {
      for (auto bytes : records) fmt::print("{}\n", cairn::unpacked<std::string>(bytes));
    });
    cairn::am::epoch telling(world);
    says.send_packed(cairn::main_worker, 0, fmt::format("rank {} has read {} values", rank, reads));
    telling.close();
    return world.any(wrong != 0) ? 1 : 0;
  });
}
