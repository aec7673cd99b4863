// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/task/parallel_for.hpp>

namespace cairn::task {
namespace {

TEST(ChunkShares, AWorkerTakesItsOwnShareAndThenTheOthers) {
  chunk_shares chunks(7, 3);  // shares of 3, 2 and 2
  std::vector<std::size_t> taken;
  chunk_shares::taker second(chunks, worker_t{1});
  for (auto i = second.next(); i < 7; i = second.next()) taken.push_back(i);
  EXPECT_EQ(taken, (std::vector<std::size_t>{3, 4, 5, 6, 0, 1, 2}));
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 7u);
}

TEST(ChunkShares, InTurnAWorkerTakesEveryKthNumberAndThenTheOthers) {
  chunk_shares chunks(7, 3, chunk_order::in_turn);
  std::vector<std::size_t> taken;
  chunk_shares::taker second(chunks, worker_t{1});
  for (auto i = second.next(); i < 7; i = second.next()) taken.push_back(i);
  EXPECT_EQ(taken, (std::vector<std::size_t>{1, 4, 2, 5, 0, 3, 6}));
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 7u);
}

TEST(ChunkShares, FewerNumbersThanWorkers) {
  chunk_shares chunks(1, 8);
  EXPECT_EQ(chunk_shares::taker(chunks, worker_t{5}).next(), 0u);
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 1u);
}

TEST(ChunkShares, NothingIsLeftOnceAllAreTaken) {
  chunk_shares chunks(100, 2);
  EXPECT_EQ(chunk_shares::taker(chunks, worker_t{1}).next(), 50u);
  chunks.take_all();
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 100u);
  EXPECT_EQ(chunk_shares::taker(chunks, worker_t{1}).next(), 100u);
}

TEST(ChunkShares, ConcurrentWorkersTakeEachNumberOnce) {
  constexpr std::size_t n = 20'000;
  for (const auto& [workers, order] : {std::pair{2, chunk_order::by_share},
                                       {3, chunk_order::in_turn},
                                       {20, chunk_order::by_share},  // more workers than shares
                                       {20, chunk_order::in_turn}}) {
    chunk_shares chunks(n, static_cast<std::size_t>(workers), order);
    std::vector<std::atomic<int>> taken(n);
    std::vector<std::thread> threads;
    for (int w = 0; w < workers; ++w) {
      threads.emplace_back([&, w] {
        chunk_shares::taker mine(chunks, worker_t{w});
        for (auto i = mine.next(); i < n; i = mine.next()) ++taken[i];
      });
    }
    for (auto& t : threads) t.join();
    EXPECT_TRUE(std::ranges::all_of(taken, [](const auto& times) { return times == 1; }));
  }
}

}  // namespace
}  // namespace cairn::task
