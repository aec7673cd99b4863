// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/memory.hpp>

#include <support/on_ranks.hpp>

namespace cairn::graph {
namespace {

constexpr std::uint64_t mb = 1 << 20;

/// A machine as the system's files describe it.
class MachineMemory : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("cairn_memory_" +
             std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(root_);
    write("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:    2048000 kB\nSwapFree: 0 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const auto file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t available() const { return available_memory(root_.string()); }

 private:
  std::filesystem::path root_;
};

TEST_F(MachineMemory, IsWhatTheSystemHasAvailableWithoutControlGroups) {
  EXPECT_EQ(available(), 2000 * mb);
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
}

TEST(AvailableMemory, IsUnlimitedWhereNothingSays) {
  EXPECT_EQ(available_memory("/no/such/root"), std::numeric_limits<std::uint64_t>::max());
}

TEST(AvailableMemory, IsSomethingHere) { EXPECT_GT(available_memory(), mb); }

TEST(BytesToBuild, CountOffsetsTargetsWeightsAndRowNumbers) {
  const build_size size{.num_vertices = 1000, .num_edges = 5000, .symmetric = true};
  EXPECT_EQ(bytes_to_build(size, 1), 1001u * 8 + 10'000 * (4 + 2));
  auto weighted = size;
  weighted.weight_bytes = 8;
  EXPECT_EQ(bytes_to_build(weighted, 1), 1001u * 8 + 10'000 * (4 + 8 + 2));
  auto inverse = size;
  inverse.symmetric = false;
  inverse.inverse = true;
  EXPECT_EQ(bytes_to_build(inverse, 1), 2 * (1001u * 8 + 5000 * 4) + 5000 * 2);
}

TEST(BytesToBuild, ShrinkWithRanksAndSaturate) {
  const build_size huge{.num_vertices = std::uint64_t{1} << 48,
                        .num_edges = std::uint64_t{1} << 63,
                        .id_bytes = 8,
                        .symmetric = true};
  EXPECT_EQ(bytes_to_build(huge, 1), std::numeric_limits<std::uint64_t>::max());
  const build_size size{.num_vertices = 1 << 20, .num_edges = 1 << 24, .symmetric = true};
  EXPECT_LT(bytes_to_build(size, 8), bytes_to_build(size, 2));
}

TEST(MemoryRefusal, IsOneSentenceWithNeedAndSupplyOnEveryRank) {
  cairn::support::on_ranks(3, 1, [](world& w) {
    try {
      expect_memory_for(w, {.num_vertices = std::uint64_t{1} << 40, .num_edges = 1});
      ADD_FAILURE() << "2^43 bytes of offsets found room";
    } catch (const usage_error& e) {
      const std::string sentence = e.what();
      EXPECT_NE(sentence.find("needs 8.80 TB of memory"), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("available"), std::string::npos) << sentence;
    }
    expect_memory_for(w, {.num_vertices = 10, .num_edges = 10});
  });
}

TEST(FormatBytes, HasThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(12'345), "12.3 kB");
  EXPECT_EQ(format_bytes(999'600), "1.00 MB");
  EXPECT_EQ(format_bytes(123'456'789'012), "123 GB");
}

}  // namespace
}  // namespace cairn::graph
