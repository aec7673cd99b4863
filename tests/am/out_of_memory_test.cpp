// SPDX-License-Identifier: Apache-2.0
// Epochs go on after a failed allocation that the body catches.
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/epoch.hpp>
#include <cairn/am/piece_channel.hpp>

#include <support/on_ranks.hpp>
#include <support/starving.hpp>

namespace cairn::am::out_of_memory_test {
namespace {

TEST(EpochOutOfMemory, MayBeOpenedAgain) {
  support::on_ranks(2, 1, [](world& w) {
    const auto open_starved = [&] {
      const support::starving no_memory(0);
      epoch e(w);
    };
    EXPECT_THROW(open_starved(), std::bad_alloc);
    epoch(w).close();
  });
}

TEST(PieceChannelOutOfMemory, ItsEpochEndsWithoutTheMessage) {
  world w;
  std::uint64_t received = 0;
  piece_channel channel(w, [&](worker_t, const piece&) { ++received; }, {.max_unanswered = 1});
  epoch e(w);
  std::uint64_t sent = 0;
  const auto send_all = [&] {
    for (; sent < 1'000; ++sent) channel.send(main_worker, 0, {});
  };
  channel.send(main_worker, 0, {});  // the others wait for its answer
  {
    const support::starving no_memory(0);
    EXPECT_THROW(send_all(), std::bad_alloc);
  }
  e.close();
  EXPECT_EQ(received, 1 + sent);
}

}  // namespace
}  // namespace cairn::am::out_of_memory_test
