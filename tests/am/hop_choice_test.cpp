// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>

#include <gtest/gtest.h>

#include <cairn/am/hop_choice.hpp>

namespace cairn::am::hop_choice_test {
namespace {

constexpr std::size_t cost = 512;

// A rank among 256 whose blocks hold a message of 8 bytes each: 255 blocks, 30 hops.
constexpr hop_choice::unsent_blocks scattered{255, 30, 225 * 8};

TEST(HopChoice, JoinsManyNearlyEmptyBlocks) {
  EXPECT_TRUE(hop_choice().through_hops(scattered, cost));
}

TEST(HopChoice, SendsFewBlocksDirectly) {
  EXPECT_FALSE(hop_choice().through_hops({0, 0, 0}, cost));
  EXPECT_FALSE(hop_choice().through_hops({3, 2, 8}, cost));    // of four ranks
  EXPECT_FALSE(hop_choice().through_hops({8, 8, 64}, cost));   // to as many hops
  EXPECT_FALSE(hop_choice().through_hops({14, 6, 72}, cost));  // of 16: the delay costs more
}

TEST(HopChoice, SendsWellFilledBlocksDirectly) {
  EXPECT_FALSE(hop_choice().through_hops({255, 30, 225 * 1024}, cost));
}

// Hops of a search with little work: nothing there shares a buffer with what they forward.
TEST(HopChoice, StopsWhereHopsJoinNothing) {
  hop_choice choice;
  for (int i = 0; i < 200; ++i) choice.forwarded({.destinations = 10, .opened = 10});
  EXPECT_GT(choice.opened(), 0.99);
  EXPECT_FALSE(choice.through_hops(scattered, cost));
}

TEST(HopChoice, TriesAgainAfterAWhile) {
  hop_choice choice;
  for (int i = 0; i < 200; ++i) choice.forwarded({.destinations = 10, .opened = 10});
  int refused = 0;
  while (refused < 1000 && !choice.through_hops(scattered, cost)) ++refused;
  EXPECT_GT(refused, 2);
  EXPECT_LT(refused, 50);
}

TEST(HopChoice, WhatHopsJoinDecides) {
  for (const std::size_t opened : {0, 5, 10}) {
    hop_choice choice;
    for (int i = 0; i < 200; ++i) choice.forwarded({.destinations = 10, .opened = opened});
    EXPECT_NEAR(choice.opened(), static_cast<double>(opened) / 10, 0.01);
    // 20 buffers are spared by the sender; the hops send 0, 10 or 20.
    EXPECT_EQ(choice.through_hops({40, 20, 20 * 64}, cost), opened < 10) << opened;
  }
}

}  // namespace
}  // namespace cairn::am::hop_choice_test
