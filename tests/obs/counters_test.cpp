// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/obs/counters.hpp>

namespace cairn::obs::counters_test {
namespace {

TEST(Counters, StartAtZeroAndAddUpOverWorkers) {
  counters c(3);
  EXPECT_EQ(c.total(counter::waves), 0u);
  c.add(main_worker, counter::waves);
  c.add(worker_t{2}, counter::waves, 40);
  c.add(worker_t{2}, counter::epochs, 5);
  EXPECT_EQ(c.of_worker(main_worker, counter::waves), 1u);
  EXPECT_EQ(c.of_worker(worker_t{1}, counter::waves), 0u);
  EXPECT_EQ(c.total(counter::waves), 41u);
  EXPECT_EQ(c.totals()[static_cast<std::size_t>(counter::waves)], 41u);
  EXPECT_EQ(c.totals()[static_cast<std::size_t>(counter::epochs)], 5u);
  EXPECT_EQ(c.totals()[static_cast<std::size_t>(counter::lock_waits)], 0u);
}

TEST(Counters, EachHasItsOwnNameAndMeaning) {
  std::set<std::string_view> names;
  for (const auto& row : obs::counter_table) {
    EXPECT_EQ(obs::name(row.id), row.name);
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos)
        << row.name;
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), obs::num_counters);
}

TEST(Counters, ReadersSeeThemGrowAndLoseNothing) {
  constexpr int workers = 3;
  constexpr std::uint64_t adds = 20'000;
  counters c(workers);
  std::vector<std::thread> threads;
  for (worker_t k{0}; k < workers; ++k) {
    threads.emplace_back([&c, k] {
      for (std::uint64_t i = 0; i < adds; ++i) c.add(k, counter::operators);
    });
  }
  std::uint64_t last = 0;
  bool grew = true;
  for (int i = 0; i < 1000; ++i) {
    const auto now = c.total(counter::operators);
    grew = grew && now >= last;
    last = now;
  }
  for (auto& t : threads) t.join();
  EXPECT_TRUE(grew);
  EXPECT_EQ(c.total(counter::operators), workers * adds);
}

}  // namespace
}  // namespace cairn::obs::counters_test
