// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <gtest/gtest.h>

#include <cairn/tm/fallback_lock.hpp>

namespace cairn::tm::fallback_lock_test {
namespace {

const auto no_wait = [](unsigned) { FAIL() << "waited for a free lock"; };

TEST(FallbackLock, IsTakenWhileItsGuardLives) {
  tm::fallback_lock lock;
  EXPECT_FALSE(lock.taken());
  {
    const tm::fallback_lock::guard held(lock, no_wait);
    EXPECT_TRUE(lock.taken());
    EXPECT_FALSE(held.waited());
  }
  EXPECT_FALSE(lock.taken());
  lock.wait_until_free(no_wait);
}

TEST(FallbackLock, HasItsCacheLineToItself) {
  tm::fallback_lock locks[2];
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&locks[0]) % cairn::cache_line, 0u);
  EXPECT_EQ(reinterpret_cast<char*>(&locks[1]) - reinterpret_cast<char*>(&locks[0]),
            static_cast<std::ptrdiff_t>(cairn::cache_line));
}

TEST(FallbackLock, BothWaysOfWaitingEndWhenTheHolderLeaves) {
  tm::fallback_lock lock;
  std::optional<tm::fallback_lock::guard> holder;
  unsigned waited = 0;
  const auto relax = [&](unsigned rounds) {
    EXPECT_EQ(rounds, waited++ % 3);
    if (rounds == 2) holder.reset();
  };
  holder.emplace(lock, no_wait);
  lock.wait_until_free(relax);
  EXPECT_EQ(waited, 3u);
  holder.emplace(lock, no_wait);
  const tm::fallback_lock::guard next(lock, relax);
  EXPECT_EQ(waited, 6u);
  EXPECT_TRUE(next.waited());
}

}  // namespace
}  // namespace cairn::tm::fallback_lock_test
