// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <cairn/hw/memory.hpp>

#include <support/temporary_folder.hpp>

namespace cairn::hw::memory_test {
namespace {

constexpr std::uint64_t mb = 1 << 20;

/// A machine as the system's files describe it.
class MachineMemory : public testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    2048000 kB\nSwapFree: 0 kB\n");
  }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t available() const { return available_memory(root_ / ""); }
  std::uint64_t total() const { return total_memory(root_ / ""); }

 private:
  support::temporary_folder root_;
};

TEST_F(MachineMemory, IsWhatTheSystemHasAvailableWithoutControlGroups) {
  EXPECT_EQ(available(), 2000 * mb);
  EXPECT_EQ(total(), 9'000'000ull * 1024);
}

TEST_F(MachineMemory, IsWhatTheTightestGroupOnThePathLeavesAndCachedFilesAreFree) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/memory.max", std::to_string(800 * mb) + "\n");
  write("sys/fs/cgroup/outer/memory.current", std::to_string(500 * mb) + "\n");
  write("sys/fs/cgroup/outer/memory.stat",
        "anon 7\ninactive_file " + std::to_string(100 * mb) + "\nactive_file 3\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", std::to_string(400 * mb) + "\n");
  EXPECT_EQ(available(), 400 * mb);
  write("sys/fs/cgroup/outer/inner/memory.max", std::to_string(450 * mb) + "\n");
  EXPECT_EQ(available(), 50 * mb);
  EXPECT_EQ(total(), 450 * mb);
}

TEST_F(MachineMemory, IsWhatTheMountedGroupLeavesWhereThePathIsNotVisible) {
  write("proc/self/cgroup", "0::/../not/here\n");
  write("sys/fs/cgroup/memory.max", std::to_string(300 * mb) + "\n");
  write("sys/fs/cgroup/memory.current", std::to_string(40 * mb) + "\n");
  EXPECT_EQ(available(), 260 * mb);
}

TEST_F(MachineMemory, ReadsGroupsOfTheFirstVersion) {
  write("proc/self/cgroup", "9:cpu,memory:/job\n1:name=systemd:/\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(64 * mb) + "\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(65 * mb) + "\n");
  EXPECT_EQ(available(), 0u);
  EXPECT_EQ(total(), 64 * mb);
}

TEST(AvailableMemory, IsUnlimitedWithoutALimit) {
  EXPECT_EQ(available_memory("/no/such/root"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(total_memory("/no/such/root"), 0u);
}

TEST(AvailableMemory, IsNotZeroHere) { EXPECT_GT(available_memory(), mb); }

TEST(TotalMemory, IsAtLeastWhatIsAvailable) { EXPECT_GE(total_memory(), available_memory()); }

}  // namespace
}  // namespace cairn::hw::memory_test
