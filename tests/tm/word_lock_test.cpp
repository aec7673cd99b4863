// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/tm/word_lock.hpp>

namespace cairn::tm::word_lock_test {
namespace {

TEST(WordLock, IsHeldByOne) {
  tm::word_lock lock;
  EXPECT_FALSE(lock.taken());
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.taken());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(WordLock, WaitsByRelaxingAndSaysSo) {
  tm::word_lock lock;
  std::vector<unsigned> rounds;
  const auto relax = [&](unsigned r) {
    rounds.push_back(r);
    if (r == 2) lock.unlock();
  };
  EXPECT_FALSE(lock.lock(relax));
  EXPECT_TRUE(rounds.empty());
  EXPECT_TRUE(lock.lock(relax));
  EXPECT_EQ(rounds, (std::vector<unsigned>{0, 1, 2}));
}

TEST(WordLock, KeepsThreadsApart) {
  tm::word_lock lock;
  std::uint64_t counted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5'000; ++i) {
        lock.lock([](unsigned) { std::this_thread::yield(); });
        ++counted;
        lock.unlock();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(counted, 20'000u);
}

}  // namespace
}  // namespace cairn::tm::word_lock_test
