// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/net/segment.hpp>

namespace cairn::net::segment_test {
namespace {

constexpr std::size_t bytes = 100'000;

bool all_zero(const segment& s) {
  return std::all_of(s.data(), s.data() + s.size(), [](std::byte b) { return b == std::byte{0}; });
}

TEST(Segment, BeginsZeroedWhereverItLies) {
  EXPECT_TRUE(all_zero(*segment::on_heap(bytes)));
  const auto shared = segment::shared(bytes);
  EXPECT_TRUE(all_zero(*shared));
  EXPECT_TRUE(all_zero(*segment::open(shared->where())));
  EXPECT_EQ(shared->size(), bytes);
}

TEST(Segment, WhatAChildWritesTheParentReads) {
  const auto memory = segment::shared(bytes);
  const auto child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    memory->data()[bytes - 1] = std::byte{42};
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(memory->data()[bytes - 1], std::byte{42});
}

TEST(Segment, IsNotSharedWithChildrenOnTheHeap) {
  const auto memory = segment::on_heap(bytes);
  const auto child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    memory->data()[0] = std::byte{42};
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(memory->data()[0], std::byte{0});
}

TEST(Segment, AProcessStartedApartOpensItByAddress) {
  const auto memory = segment::shared(bytes);
  const auto address = memory->where();
  const auto child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The child's own copy of the descriptor is not what the address names.
    memory->close_descriptor();
    try {
      segment::open(address)->data()[7] = std::byte{9};
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(memory->data()[7], std::byte{9});
}

TEST(Segment, OutlivesItsOwnerForItsOtherUsers) {
  auto memory = segment::shared(bytes);
  memory->data()[5] = std::byte{1};
  const auto opened = segment::open(memory->where());
  memory.reset();
  EXPECT_EQ(opened->data()[5], std::byte{1});
}

TEST(Segment, RefusesMemoryThatIsNotTheOneMeant) {
  const auto memory = segment::shared(bytes), other = segment::shared(bytes);
  auto address = memory->where();
  address.descriptor = other->where().descriptor;
  EXPECT_THROW(static_cast<void>(segment::open(address)), system_failure);
}

TEST(Segment, RefusesMemoryOfAnotherSize) {
  const auto memory = segment::shared(bytes);
  auto address = memory->where();
  address.bytes *= 2;
  EXPECT_THROW(static_cast<void>(segment::open(address)), system_failure);
}

TEST(Segment, CannotBeOpenedOnceHidden) {
  const auto memory = segment::shared(bytes);
  const auto address = memory->where();
  memory->close_descriptor();
  EXPECT_THROW(static_cast<void>(segment::open(address)), system_failure);
  memory->data()[0] = std::byte{1};  // the owner is still in
}

TEST(Segment, SaysWhenThereIsNotSoMuchMemory) {
  EXPECT_THROW(static_cast<void>(segment::shared(std::size_t{1} << 60)), system_failure);
}

}  // namespace
}  // namespace cairn::net::segment_test
