// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/block_growth.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>

#include <support/on_ranks.hpp>

namespace cairn::am::block_growth_test {
namespace {

constexpr std::size_t step = 128, max_bytes = 8192;

/// Made-up costs: a byte takes one unit of time at the sender and one at the receiver, and a buffer
/// as much as `step` bytes at each. Returns when the receiver has handled a burst.
std::uint64_t end_of_burst(std::uint64_t bytes, const std::function<std::uint64_t()>& next_block) {
  std::uint64_t sent = 0, handled = 0;
  while (bytes > 0) {
    const auto block = std::min(bytes, next_block());
    sent += step + block;
    handled = std::max(sent, handled) + step + block;
    bytes -= block;
  }
  return handled;
}

/// The most that blocks by `sizes` take, relative to the best size of all blocks, over bursts of
/// 100 bytes to 100 MB.
double worst_loss(const std::function<std::function<std::uint64_t()>()>& sizes) {
  double worst = 0;
  for (double n = 100; n < 1e8; n *= 1.7) {
    const auto bytes = static_cast<std::uint64_t>(n);
    auto best = ~std::uint64_t{0};
    for (std::uint64_t size = 64; size <= max_bytes; size += 64) {
      best = std::min(best, end_of_burst(bytes, [size] { return size; }));
    }
    const auto ours = end_of_burst(bytes, sizes());
    worst = std::max(worst, static_cast<double>(ours) / static_cast<double>(best));
  }
  return worst;
}

std::function<std::uint64_t()> growing() {
  return [growth = block_growth()]() mutable {
    const auto bytes = growth.bytes(step, max_bytes);
    growth.left_full();
    return bytes;
  };
}

TEST(BlockGrowth, IsNearTheBestSizeOfAnyBurst) { EXPECT_LT(worst_loss(growing), 1.16); }

// Other rules fail the same test.
TEST(BlockGrowthTwin, NoSizeAndNoDoublingIsNearTheBestOfEachBurst) {
  for (const std::uint64_t size : {128, 512, 2048, 8192}) {
    EXPECT_GT(worst_loss([size] { return [size] { return size; }; }), 1.2) << size;
  }
  const auto doubling = [] {
    return [size = step / 2]() mutable {
      size = std::min(2 * size, max_bytes);
      return std::uint64_t{size};
    };
  };
  EXPECT_GT(worst_loss(doubling), 1.2);
}

TEST(BlockGrowth, BeginsAgainAfterAPartFilledBlock) {
  block_growth growth;
  for (int i = 0; i < 5; ++i) growth.left_full();
  EXPECT_EQ(growth.bytes(step, max_bytes), 6 * step);
  growth.left_early();
  EXPECT_EQ(growth.bytes(step, max_bytes), step);
}

TEST(BlockGrowth, NeverExceedsTheTransportsBestSize) {
  block_growth growth;
  for (int i = 0; i < 1'000'000; ++i) growth.left_full();
  EXPECT_EQ(growth.bytes(step, max_bytes), max_bytes);
}

/// The number of messages in each buffer that rank 1 got from rank 0 in an epoch.
std::vector<std::size_t> buffers_of_epoch(world& w, channel<std::uint64_t>& sent_messages,
                                          std::vector<std::size_t>& got, std::size_t messages) {
  got.clear();
  epoch e(w);
  if (w.rank() == 0) {
    auto send = sent_messages.from(main_worker);
    for (std::size_t i = 0; i < messages; ++i) send(1, i);
  }
  e.close();
  return got;
}

TEST(BlockGrowth, ShowsInTheBuffersOfAChannel) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    std::vector<std::size_t> got;
    channel<std::uint64_t> sent_messages(
        w, [&](worker_t, std::span<const std::uint64_t> batch) { got.push_back(batch.size()); });
    for (int round = 0; round < 2; ++round) {  // the second burst begins again
      auto sizes = buffers_of_epoch(w, sent_messages, got, 16 + 32 + 48 + 10);
      std::ranges::sort(sizes);  // the network reorders
      if (w.rank() == 1) {
        EXPECT_EQ(sizes, (std::vector<std::size_t>{10, 16, 32, 48}));
      }
    }
  });
}

TEST(BlockGrowth, LeavesARequestedSizeAsItIs) {
  support::on_simulated_ranks(2, 1, 1,
                              [](world& w) {
                                std::vector<std::size_t> got;
                                channel<std::uint64_t> sent_messages(
                                    w, [&](worker_t, std::span<const std::uint64_t> batch) {
                                      got.push_back(batch.size());
                                    });
                                const auto sizes = buffers_of_epoch(w, sent_messages, got, 120);
                                if (w.rank() == 1) {
                                  EXPECT_EQ(sizes, (std::vector<std::size_t>{40, 40, 40}));
                                }
                              },
                              {.coalesce_bytes = 320});
}

TEST(BlockGrowth, AChannelMaySendEachMessageAlone) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    std::vector<std::size_t> got;
    channel<std::uint64_t> sent_messages(
        w, [&](worker_t, std::span<const std::uint64_t> batch) { got.push_back(batch.size()); },
        {.coalesce_bytes = sizeof(std::uint64_t)});
    const auto sizes = buffers_of_epoch(w, sent_messages, got, 5);
    if (w.rank() == 1) {
      EXPECT_EQ(sizes, std::vector<std::size_t>(5, 1));
    }
  });
}

TEST(BlockGrowth, StaysUnderTheTransportsBestPacket) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    std::vector<std::size_t> got;
    channel<std::uint64_t> sent_messages(
        w, [&](worker_t, std::span<const std::uint64_t> batch) { got.push_back(batch.size()); });
    const auto sizes = buffers_of_epoch(w, sent_messages, got, 200'000);
    if (w.rank() == 1) {
      const auto largest = *std::ranges::max_element(sizes);
      EXPECT_EQ(largest, w.messages().best_bytes(0) / sizeof(std::uint64_t));
      EXPECT_EQ(w.counters().totals()[static_cast<std::size_t>(obs::counter::fragments)], 0u);
    }
  });
}

}  // namespace
}  // namespace cairn::am::block_growth_test
