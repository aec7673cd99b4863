// SPDX-License-Identifier: Apache-2.0
// Channels and epochs that cannot be constructed.
#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/task/fibers.hpp>

namespace cairn::am::attach_test {
namespace {

// The address space has room for some stacks of so many bytes, but not for all workers.
constexpr std::size_t huge_stack = std::size_t{1} << 36;
constexpr int many = 4096;

TEST(ChannelConstruction, WithoutStacksForTheWorkersOfASimulatedRankLeavesNothingBehind) {
  random64 random(1);
  hw::virtual_clock clock;
  task::fiber_options options;
  options.stack_bytes = huge_stack;
  task::fiber_scheduler scheduler(random, clock, options);
  const auto p = scheduler.make_pool(many);
  bool refused = false;
  scheduler.start(*p, [&] {
    net::ring_transport net(std::make_shared<const net::ring_fabric>(1), 0);
    world w(net, *p, clock);
    try {
      channel<int> c(w, [](worker_t, std::span<const int>) {}, {.kind = channel_kind::standing});
    } catch (const system_failure&) {
      refused = true;
    }
    w.progress();
    w.barrier();
  });
  scheduler.run();
  EXPECT_TRUE(refused);
}

TEST(EpochConstruction, WithoutStacksForTheWorkersOfSimulatedRanksLeavesNothingBehind) {
  random64 random(1);
  hw::virtual_clock clock;
  task::fiber_options options;
  options.stack_bytes = huge_stack;
  task::fiber_scheduler scheduler(random, clock, options);
  const auto fabric = std::make_shared<const net::ring_fabric>(2);
  const std::array pools{scheduler.make_pool(many), scheduler.make_pool(many)};
  int refused = 0;
  for (rank_t r = 0; r < 2; ++r) {
    scheduler.start(*pools[static_cast<std::size_t>(r)], [&, r] {
      net::ring_transport net(fabric, r);
      world w(net, *pools[static_cast<std::size_t>(r)], clock);
      try {
        const epoch e(w);
      } catch (const system_failure&) {
        ++refused;
      }
      w.barrier();
    });
  }
  scheduler.run();
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace cairn::am::attach_test
