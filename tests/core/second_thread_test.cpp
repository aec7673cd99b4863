// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>

#include <support/on_ranks.hpp>

namespace cairn::second_thread_test {
namespace {

/// What calls into w from another thread, meanwhile, are told.
void expect_refused_elsewhere(world& w) {
  const std::function<void()> calls[] = {
      [&] { w.parallel_for(1, [](worker_t, std::size_t, std::size_t) {}); },
      [&] { w.run([](worker_t) {}); },
      [&] { w.barrier(); },
      [&] { static_cast<void>(w.all_gather(1)); },
      [&] { w.wait_until([] { return true; }); },
  };
  for (const auto& call : calls) {
    std::thread other([&] { EXPECT_THROW(call(), contract_violation); });
    other.join();
  }
}

TEST(World, ASecondThreadThatCallsIntoAWorldInUseIsRefused) {
  for (const rank_t ranks : {1, 2}) {
    for (const int workers : {1, 2}) {
      support::on_ranks(ranks, workers, [](world& w) {
        w.parallel_for(
            1, [&](worker_t, std::size_t, std::size_t) { expect_refused_elsewhere(w); }, 1);
        w.run([&](worker_t k) {
          if (k == 0) expect_refused_elsewhere(w);
        });
        bool looked = false;
        w.wait_until([&] {
          if (!looked) expect_refused_elsewhere(w);
          return looked = true;
        });
        EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
      });
    }
  }
}

TEST(World, AnotherThreadMayCallIntoAWorldThatIsNotInUse) {
  world w(2);
  std::thread other([&] { EXPECT_EQ(w.sum(std::uint64_t{3}), 3u); });
  other.join();
  EXPECT_EQ(w.sum(std::uint64_t{4}), 4u);
}

}  // namespace
}  // namespace cairn::second_thread_test
