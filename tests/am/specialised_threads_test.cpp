// SPDX-License-Identifier: Apache-2.0
// What the settings of the style `specialised` change.
#include <atomic>
#include <cstdint>
#include <set>
#include <span>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/aggregation_queue.hpp>
#include <cairn/core/progress.hpp>

#include <support/on_ranks.hpp>

namespace cairn::am {
namespace {

world_options specialised(const specialised_options& how, std::size_t coalesce_bytes = 4096) {
  return {.coalesce_bytes = coalesce_bytes,
          .progress = progress_style::specialised,
          .specialised = how};
}

struct seen {
  std::uint64_t joined = 0, packets = 0, by_workers = 0, handled = 0;
  std::set<int> threads;
};

// Rank 0 sends words to rank 1 on a standing channel, on a simulated cluster.
seen send_words(const world_options& options, std::uint64_t words = 4096) {
  seen all;
  support::on_simulated_ranks(
      2, 1, 1,
      [&](world& w) {
        {
          channel<std::uint64_t> road(w,
                                      [&](worker_t k, std::span<const std::uint64_t> batch) {
                                        all.handled += batch.size();
                                        all.threads.insert(k);
                                        if (k < w.workers()) ++all.by_workers;
                                      },
                                      {.kind = channel_kind::standing});
          w.barrier();
          if (w.rank() == 0) {
            w.parallel_for(
                words,
                [&](worker_t k, std::size_t begin, std::size_t end) {
                  auto send = road.from(k);
                  for (auto i = begin; i < end; ++i) send(1, i);
                },
                words);
          }
        }
        w.barrier();
        if (w.rank() == 0) {
          all.joined = w.counters().total(obs::counter::buffers_joined);
          all.packets = w.counters().total(obs::counter::buffers_sent);
        }
      },
      options);
  EXPECT_EQ(all.handled, words);
  return all;
}

TEST(SpecialisedThreads, HelpersAloneHandleStandingChannels) {
  for (const int helpers : {1, 3}) {
    const auto all = send_words(specialised({.helpers = helpers, .command_block_bytes = 64}));
    EXPECT_EQ(all.by_workers, 0u);
    EXPECT_EQ(all.threads.size(), static_cast<std::size_t>(helpers));
  }
}

TEST(SpecialisedThreads, BlocksLeaveTogetherInOneBuffer) {
  const auto whole = send_words(specialised({}));
  const auto small = send_words(specialised({.command_block_bytes = 64}));
  EXPECT_EQ(whole.joined, 0u);
  EXPECT_GT(small.joined, 400u);   // of 512 blocks
  EXPECT_LT(small.packets, 256u);  // not one per block
}

TEST(SpecialisedThreads, AFullChannelMakesItsThreadWait) {
  constexpr worker_t thread{0};
  communication_server server(2, 2, {.packet_bytes = 4096, .channel_blocks = 2});
  for (int n = 0; n < 2; ++n) {
    EXPECT_FALSE(server.full(thread));
    buffer b(64);
    b.set_size(64);
    EXPECT_TRUE(server.hand_over(thread, 1, 8, std::move(b)).empty());
  }
  EXPECT_TRUE(server.full(thread));
  EXPECT_FALSE(server.full(worker_t{1}));
  EXPECT_EQ(server.waiting_bytes(), 2 * (64 + sizeof(packet_header)));
}

outgoing_block block_of(std::size_t bytes) {
  outgoing_block b{.items = buffer(bytes)};
  b.items.set_size(bytes);
  return b;
}

TEST(AggregationQueue, LeavesWhenItIsFullOrOld) {
  constexpr auto entry = sizeof(bundle_entry);
  const aggregation_queue::limits most{.bytes = 2 * (entry + 64), .age_ns = 100};
  aggregation_queue q;
  EXPECT_EQ(q.due(most, 0), 0u);
  q.push(block_of(64), 0);
  EXPECT_EQ(q.due(most, 99), 0u);
  EXPECT_EQ(q.due(most, 100), 1u);
  q.push(block_of(64), 50);
  EXPECT_EQ(q.due(most, 50), 2u);
  q.push(block_of(64), 50);
  EXPECT_EQ(q.take(q.due(most, 50)).size(), 2u);
  EXPECT_EQ(q.due(most, 149), 0u);
  EXPECT_EQ(q.due(most, 150), 1u);
}

TEST(AggregationQueue, ABlockLargerThanAPacketLeavesAlone) {
  aggregation_queue q;
  q.push(block_of(1000), 0);
  q.push(block_of(8), 0);
  EXPECT_EQ(q.due({.bytes = 100, .age_ns = 100}, 0), 1u);
}

}  // namespace
}  // namespace cairn::am
