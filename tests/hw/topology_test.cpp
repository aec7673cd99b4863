// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include <cairn/hw/machine.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn::hw::topology_test {
namespace {

TEST(Topology, CountsThisMachine) {
  const auto found = hw::read_topology();
  EXPECT_GE(found.hardware_threads, 1);
  EXPECT_GE(found.hardware_threads, found.cores);
  EXPECT_GE(found.cores, found.sockets);
  EXPECT_GE(found.memory_bytes, std::uint64_t{1} << 20);
}

TEST(CoreSet, IsAscendingAndNeverEmpty) {
  const auto cores = hw::core_set::of_this_thread();
  ASSERT_GE(cores.size(), 1);
  EXPECT_EQ(hw::allowed_cores(), cores.size());
  EXPECT_TRUE(std::is_sorted(cores.numbers().begin(), cores.numbers().end()));
}

TEST(CoreSet, PinsToTheIndexedCoreCyclically) {
  const auto cores = hw::core_set::of_this_thread();
  for (int index = 0; index < 2 * cores.size() + 1; ++index) {
    std::vector<int> seen;
    std::thread([&] {
      cores.pin_this_thread(index);
      seen = hw::core_set::of_this_thread().numbers();
    }).join();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0], cores.numbers()[static_cast<std::size_t>(index % cores.size())]);
  }
}

TEST(CoreSet, UnpinningGivesTheWholeSetBack) {
  const auto cores = hw::core_set::of_this_thread();
  std::vector<int> seen;
  std::thread([&] {
    cores.pin_this_thread(0);
    cores.unpin_this_thread();
    seen = hw::core_set::of_this_thread().numbers();
  }).join();
  EXPECT_EQ(seen, cores.numbers());
}

// Why a core_set is read before the first thread is pinned.
TEST(CoreSet, AThreadStartedByAPinnedOneIsAllowedOneCore) {
  const auto cores = hw::core_set::of_this_thread();
  int inherited = 0;
  std::thread([&] {
    cores.pin_this_thread(0);
    std::thread([&] { inherited = hw::allowed_cores(); }).join();
  }).join();
  EXPECT_EQ(inherited, 1);
}

TEST(Machine, AgreesWithItsParts) {
  const auto machine = hw::read_machine();
  EXPECT_EQ(machine.allowed_cores, hw::allowed_cores());
  EXPECT_EQ(machine.topology.cores, hw::read_topology().cores);
  EXPECT_EQ(machine.transactions.works, hw::probe_transactions().works);
  EXPECT_GE(machine.page_bytes, 4096u);
  const std::vector<std::string> modes{"", "always", "madvise", "never"};
  EXPECT_NE(std::find(modes.begin(), modes.end(), machine.huge_pages), modes.end())
      << machine.huge_pages;
}

}  // namespace
}  // namespace cairn::hw::topology_test
