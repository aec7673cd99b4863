// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::hw::pages_test {
namespace {

constexpr std::size_t big = 3 * hw::huge_page_bytes + 12345;

// Pages of [begin, begin + bytes) that are in memory; -1 if some are not even mapped.
long resident_pages(void* begin, std::size_t bytes) {
  std::vector<unsigned char> state((bytes + hw::page_bytes() - 1) / hw::page_bytes());
  if (mincore(begin, bytes, state.data()) != 0) return -1;
  return std::count_if(state.begin(), state.end(), [](unsigned char s) { return (s & 1) != 0; });
}

TEST(PageBuffer, StartsAsZeros) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, big}) {
    const hw::page_buffer<unsigned char> buffer(count);
    EXPECT_EQ(buffer.size(), count);
    EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](unsigned char c) { return c == 0; }));
  }
}

TEST(PageBuffer, IsAlignedToACacheLineAndBigOnesToAHugePage) {
  const auto address = [](const auto& b) { return reinterpret_cast<std::uintptr_t>(b.data()); };
  for (int i = 0; i < 5; ++i) {
    const hw::page_buffer<int> small(1 + i);
    EXPECT_EQ(address(small) % cairn::cache_line, 0u);
    const hw::page_buffer<char> large(big + i);
    EXPECT_EQ(address(large) % hw::huge_page_bytes, 0u);
  }
}

TEST(PageBuffer, MovesWithoutCopyingAndLeavesTheSourceEmpty) {
  hw::page_buffer<int> a(10), b(5);
  a[3] = 7;
  const int* data = a.data();
  b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b.size(), 10u);
  EXPECT_EQ(b[3], 7);
  EXPECT_EQ(a.size(), 0u);
  const hw::page_buffer<int> c(std::move(b));
  EXPECT_EQ(c.data(), data);
  EXPECT_TRUE(b.empty());
}

TEST(PageBuffer, ShrinkKeepsTheHeadAndGivesTheTailBack) {
  hw::page_buffer<std::uint64_t> buffer(big / 8);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = i;
  const auto kept = (hw::huge_page_bytes + 5 * hw::page_bytes()) / 8 + 1;
  auto* const tail =
      reinterpret_cast<char*>(buffer.data()) + hw::huge_page_bytes + 6 * hw::page_bytes();
  EXPECT_GT(resident_pages(tail, hw::huge_page_bytes), 0);
  buffer.shrink(kept);
  EXPECT_EQ(buffer.size(), kept);
  for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(buffer[i], i);
  EXPECT_EQ(resident_pages(tail, hw::huge_page_bytes), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(PageBuffer, ShrinksToNothing) {
  hw::page_buffer<char> large(big), small(100);
  large.shrink(0);
  small.shrink(0);
  EXPECT_EQ(large.size(), 0u);
  EXPECT_EQ(small.size(), 0u);
}

TEST(PageBuffer, RefusesWhatNoMachineHasAndNamesTheSize) {
  constexpr auto bytes = std::size_t{1} << 58;
  try {
    const hw::page_buffer<double> buffer(bytes / 8);
    FAIL() << "got 2^58 bytes";
  } catch (const cairn::system_failure& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("cannot allocate 288 PB: ")) << e.what();
  }
  // count * sizeof(T) overflows.
  EXPECT_THROW(hw::page_buffer<double>(std::numeric_limits<std::size_t>::max() / 4),
               cairn::system_failure);
}

TEST(TouchPages, MakesEveryPageOfTheRangePresent) {
  hw::page_buffer<char> buffer(big);
  // Untouched memory is what the test needs; whether it is huge pages depends on the machine.
  ASSERT_EQ(resident_pages(buffer.data(), big), 0);
  const auto first = hw::huge_page_bytes - 1, last = 2 * hw::huge_page_bytes + 1;
  buffer.prefault(first, last);
  const auto begin = hw::huge_page_bytes - hw::page_bytes();
  const auto end = 2 * hw::huge_page_bytes + hw::page_bytes();
  EXPECT_EQ(resident_pages(buffer.data() + begin, end - begin),
            static_cast<long>((end - begin) / hw::page_bytes()));
  buffer.prefault();
  EXPECT_EQ(resident_pages(buffer.data(), big),
            static_cast<long>((big + hw::page_bytes() - 1) / hw::page_bytes()));
}

TEST(TouchPages, LosesNoWriteOfOthers) {
  hw::page_buffer<std::uint64_t> buffer(hw::huge_page_bytes / 8);
  constexpr std::uint64_t writes = 20'000;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    const std::atomic_ref<std::uint64_t> cell(buffer[0]);
    for (std::uint64_t i = 0; i < writes; ++i) cell.fetch_add(1, std::memory_order_relaxed);
    done.store(true, std::memory_order_relaxed);
  });
  while (!done.load(std::memory_order_relaxed)) hw::touch_pages(buffer.data(), 8);
  writer.join();
  EXPECT_EQ(buffer[0], writes);
}

TEST(DropPages, ForgetsWholePagesAndKeepsTheirSurroundings) {
  const std::size_t size = 5 * hw::page_bytes();
  const hw::pages memory(hw::huge_page_bytes);  // mapped, so that all pages around are its own
  auto* const bytes = static_cast<unsigned char*>(memory.data());
  std::fill_n(bytes, size, static_cast<unsigned char>(7));
  hw::drop_pages(bytes + 100, 3 * hw::page_bytes());
  for (std::size_t i = 0; i < size; ++i) {
    const bool dropped = i >= hw::page_bytes() && i < 3 * hw::page_bytes();
    ASSERT_EQ(bytes[i], dropped ? 0 : 7) << i;
  }
  hw::drop_pages(bytes + 100, hw::page_bytes());
  hw::drop_pages(bytes + 100, 0);
  EXPECT_EQ(bytes[100], 7);
}

}  // namespace
}  // namespace cairn::hw::pages_test
