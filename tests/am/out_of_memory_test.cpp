// SPDX-License-Identifier: Apache-2.0
// Failed allocations that the body catches.
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
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

// The block is lost, and its messages are counted: the channel's destructor would wait for them.
TEST(StandingChannelOutOfMemory, FailsTheWorldIfABlockHasNoMemoryToLeave) {
  const auto body = [](world& w) {
    channel<int> numbers(w, [](worker_t, std::span<const int>) {},
                         {.kind = channel_kind::standing});
    for (int i = 0; i < 1'000 && !w.poisoned(); ++i) {
      numbers.send(main_worker, 0, i);
      try {
        const support::starving no_memory(0);
        for (int rounds = 0; rounds < 3; ++rounds) w.progress();
      } catch (const std::bad_alloc&) {  // also where a handled buffer is kept for the next block
      }
    }
    EXPECT_TRUE(w.poisoned());
  };
  support::on_ranks(1, 1, body, {.coalesce_age_ns = 0});
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
