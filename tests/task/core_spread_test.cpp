// SPDX-License-Identifier: Apache-2.0
#include "task/core_spread.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/hw/topology.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::task::core_spread_test {
namespace {

// The cores that worker 1 may use after it met worker 0 on the first core, to which both are bound.
std::vector<int> cores_after_meeting(pinning pin) {
  const auto cores = hw::core_set::of_this_thread();
  std::vector<int> found;
  std::thread([&] {
    cores.pin_this_thread(0);
    core_spread spread({.workers = 2, .pin = pin}, cores);
    spread.record_core(main_worker);
    spread.record_core(worker_t{1});
    found = hw::core_set::of_this_thread().numbers();
  }).join();
  return found;
}

TEST(CoreSpread, MovesAWorkerFromTheCoreOfAnotherAndLeavesItUnbound) {
  const auto allowed = hw::core_set::of_this_thread().numbers();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  EXPECT_EQ(cores_after_meeting(pinning::automatic), allowed);
}

TEST(CoreSpread, DoesNothingUnlessPinningIsAutomatic) {
  const std::vector<int> first{hw::core_set::of_this_thread().numbers().front()};
  EXPECT_EQ(cores_after_meeting(pinning::off), first);
  EXPECT_EQ(cores_after_meeting(pinning::on), first);
}

}  // namespace
}  // namespace cairn::task::core_spread_test
