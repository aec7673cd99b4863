// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/task/parallel_for.hpp>

namespace cairn::task::chunk_shares_test {
namespace {

TEST(ChunkShares, AWorkerTakesItsOwnShareAndThenTheOthers) {
  chunk_shares chunks({.numbers = 7, .workers = 3});  // shares of 3, 2 and 2
  std::vector<std::size_t> taken;
  chunk_shares::taker second(chunks, worker_t{1});
  for (auto i = second.next(); i < 7; i = second.next()) taken.push_back(i);
  EXPECT_EQ(taken, (std::vector<std::size_t>{3, 4, 5, 6, 0, 1, 2}));
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 7u);
}

TEST(ChunkShares, FewerNumbersThanWorkers) {
  chunk_shares chunks({.numbers = 1, .workers = 8});
  EXPECT_EQ(chunk_shares::taker(chunks, worker_t{5}).next(), 0u);
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 1u);
}

TEST(ChunkShares, NothingIsLeftOnceAllAreTaken) {
  chunk_shares chunks({.numbers = 100, .workers = 2});
  EXPECT_EQ(chunk_shares::taker(chunks, worker_t{1}).next(), 50u);
  chunks.take_all();
  EXPECT_EQ(chunk_shares::taker(chunks, main_worker).next(), 100u);
  EXPECT_EQ(chunk_shares::taker(chunks, worker_t{1}).next(), 100u);
}

TEST(ChunkShares, ConcurrentWorkersTakeEachNumberOnce) {
  constexpr std::size_t n = 20'000;
  for (const int workers : {2, 3, 20}) {  // 20: more workers than shares
    chunk_shares chunks({.numbers = n, .workers = static_cast<std::size_t>(workers)});
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
}  // namespace cairn::task::chunk_shares_test
