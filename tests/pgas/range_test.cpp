// SPDX-License-Identifier: Apache-2.0
// Ranges of more pieces than are on their way at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/core/progress.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/yield.hpp>

#include <support/global_arrays.hpp>
#include <support/places.hpp>

namespace cairn::pgas::range_test {
namespace {

using cairn::task::task;
using support::nothing;
using support::value_at;

using words = std::vector<std::uint64_t>;

task<> put_all(global_view<std::uint64_t> a, const words& from) {
  co_await a.put(0, std::span(from));
}
task<> get_all(global_view<std::uint64_t> a, words& into) { co_await a.get(0, std::span(into)); }

TEST(LongRanges, AreWhole) {
  for (const auto& at : {support::place{support::place::network::rings, 2, 1},
                         support::place{support::place::network::simulated, 3, 2}}) {
    SCOPED_TRACE(at.name());
    at.run([](world& w) {
      global_memory memory(w);
      for (const auto d : support::all_distributions) {
        const bool by_elements = d == distribution::cyclic || d == distribution::hashed;
        const auto a = memory.collective_alloc<std::uint64_t>(by_elements ? 25'000 : 150'000,
                                                              {.distribution = d});
        words all(a.size());
        for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = value_at<std::uint64_t>(i, 9);
        w.run(w.rank() == 0 ? put_all(memory.view(a), all) : nothing());
        w.barrier();
        words copy(a.size());
        w.run(get_all(memory.view(a), copy));
        EXPECT_TRUE(copy == all);
        memory.collective_free(a);
      }
    });
  }
}

task<> sample(world& w, const bool& stop, std::size_t& most) {
  while (!stop) {
    most = std::max(most, w.messages().held_bytes());
    co_await cairn::task::yield();
  }
}
task<> put_while_sampling(world& w, global_view<std::uint64_t> a, const words& from,
                          std::size_t& most) {
  bool stop = false;
  auto sampling = co_await cairn::task::spawn(sample(w, stop, most));
  co_await a.put(0, std::span(from));
  stop = true;
  co_await sampling;
}

// Of 8 MiB, all at once would be 65,536 pieces on their way and as many kept.
TEST(LongRanges, HoldFewMessagesAtOnce) {
  support::on_ranks(2, 1, [](world& w) {
    global_memory memory(w);
    const auto a = memory.collective_alloc<std::uint64_t>(std::uint64_t{1} << 20,
                                                          {.distribution = distribution::remote});
    const words from(a.size(), 5);
    std::size_t most = 0;
    w.run(w.rank() == 0 ? put_while_sampling(w, memory.view(a), from, most) : nothing());
    EXPECT_LT(most, std::size_t{2} << 20);
    w.barrier();
    for (const auto x : memory.view(a).local()) ASSERT_EQ(x, 5u);
  });
}

}  // namespace
}  // namespace cairn::pgas::range_test
