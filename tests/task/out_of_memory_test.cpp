// SPDX-License-Identifier: Apache-2.0
// Starting tasks when there is no memory for the queue of those that have not started.
#include <memory>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/task/future.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/starving.hpp>
#include <support/task_pools.hpp>

namespace cairn::task::out_of_memory_test {
namespace {

// The queue of so many tasks takes more than the bytes.
constexpr int many = 20'000;
constexpr std::size_t too_few_bytes = 64 << 10;

task<> count(int& n) {
  ++n;
  co_return;
}

task<> run_all(int& ran, bool& refused) {
  std::vector<task<>> all;
  for (int i = 0; i < many; ++i) all.push_back(count(ran));
  auto no_memory = std::make_unique<support::starving>(too_few_bytes);
  try {
    co_await when_all(std::move(all));
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  no_memory.reset();
  co_await yield();  // tasks in the queue would run now
}

TEST(OutOfMemory, WhenAllStartsAllTasksOrNone) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p);
  int ran = 0;
  bool refused = false;
  s.run(run_all(ran, refused));
  EXPECT_TRUE(refused);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(s.num_live(), 0u);
}

task<> spawn_all(int& ran, int& spawned) {
  std::vector<future<void>> all;
  all.reserve(many);
  std::vector<task<>> tasks;
  for (int i = 0; i < many; ++i) tasks.push_back(count(ran));
  auto no_memory = std::make_unique<support::starving>(too_few_bytes);
  try {
    for (auto& t : tasks) {
      auto f = co_await spawn(std::move(t));
      all.push_back(std::move(f));
    }
  } catch (const std::bad_alloc&) {
  }
  no_memory.reset();
  spawned = static_cast<int>(all.size());
  for (auto& f : all) co_await f;
}

TEST(OutOfMemory, ATaskThatCannotBeSpawnedLeavesNoFrame) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p);
  int ran = 0, spawned = 0;
  s.run(spawn_all(ran, spawned));
  EXPECT_LT(spawned, many);
  EXPECT_EQ(ran, spawned);
  EXPECT_EQ(s.num_live(), 0u);
}

}  // namespace
}  // namespace cairn::task::out_of_memory_test
