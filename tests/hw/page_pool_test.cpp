// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/hw/page_pool.hpp>

namespace cairn::hw::page_pool_test {
namespace {

TEST(PagePool, ReusesReturnedMemory) {
  const auto pool = std::make_shared<page_pool>();
  for (const std::size_t count : {100u, 10'000'000u}) {
    const int* address = nullptr;
    {
      const page_buffer<int> first(count, pool);
      address = first.data();
    }
    const page_buffer<int> reused(count - count / 4, pool);
    EXPECT_EQ(reused.data(), address);
    EXPECT_EQ(reused.size(), count - count / 4);
  }
}

TEST(PagePool, ASmallBufferDoesNotTakeALargeBlock) {
  const auto pool = std::make_shared<page_pool>();
  { const page_buffer<char> large(1'000'000, pool); }
  const page_buffer<char> small(1'000, pool);
  const page_buffer<char> large(1'000'000, pool);
  EXPECT_EQ(pool->idle_bytes(), 0u);
}

TEST(PagePool, HoldsAtMostThePeakOfItsUse) {
  const auto pool = std::make_shared<page_pool>();
  for (std::size_t bytes = 1'000; bytes < 10'000'000; bytes *= 3) {
    { const page_buffer<char> buffer(bytes, pool); }
    EXPECT_LE(pool->idle_bytes(), bytes);
  }
}

TEST(PagePool, ABufferOutlivesTheOneThatMadeThePool) {
  auto pool = std::make_shared<page_pool>();
  page_buffer<int> kept(1'000, pool);
  pool.reset();
  kept[999] = 7;
  const page_buffer<int> moved(std::move(kept));
  EXPECT_EQ(moved[999], 7);
}

TEST(PagePool, AFailedAllocationIsAnError) {
  const auto pool = std::make_shared<page_pool>();
  EXPECT_THROW(page_buffer<char>(~std::size_t{0}, pool), system_failure);
  EXPECT_EQ(pool->idle_bytes(), 0u);
}

}  // namespace
}  // namespace cairn::hw::page_pool_test
