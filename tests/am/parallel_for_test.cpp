// SPDX-License-Identifier: Apache-2.0
// The parallel loop that a task awaits.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/parallel_for.hpp>
#include <cairn/base/error.hpp>

#include <support/places.hpp>

namespace cairn::am::parallel_for_test {
namespace {

class TaskLoop : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, TaskLoop, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, TaskLoop, ::testing::ValuesIn(support::served_places()),
                         support::place_name);
// As many ranks as are called along a tree.
INSTANTIATE_TEST_SUITE_P(AlongATree, TaskLoop,
                         ::testing::Values(support::place{support::place::network::simulated, 40,
                                                          1}),
                         support::place_name);

// The places run one cluster at a time, with all ranks in this process: rows by rank.
struct hits {
  hits(std::size_t ranks, std::uint64_t n) : by_rank(ranks) {
    for (auto& row : by_rank) row = std::vector<std::atomic<int>>(n);
  }
  [[nodiscard]] int at(std::uint64_t i) const {
    int n = 0;
    for (const auto& row : by_rank) n += row[i];
    return n;
  }
  std::vector<std::vector<std::atomic<int>>> by_rank;
};
// Not a span of elements: a pointer travels, because all ranks are in this process.
using hits_address = std::uintptr_t;

void hit(world& w, std::uint64_t begin, std::uint64_t end, hits_address to) {
  auto& h = *reinterpret_cast<hits*>(to);
  for (auto i = begin; i < end; ++i) ++h.by_rank[static_cast<std::size_t>(w.rank())][i];
}
task::task<void> hit_later(world& w, std::uint64_t begin, std::uint64_t end, hits_address to) {
  for (auto i = begin; i < end; ++i) {
    co_await task::yield();
    hit(w, i, i + 1, to);
  }
}

task::task<void> loops(world* w, std::uint64_t n, loop_options opt, hits_address to) {
  if (w->rank() != w->size() - 1) co_return;
  co_await w->parallel_for<&hit>(n, opt, to);
  co_await w->parallel_for<&hit_later>(n, opt, to);
}

TEST_P(TaskLoop, CallsTheBodyOnceForEachIterationWhereItShould) {
  for (const auto where : {locality::partition, locality::local, locality::remote}) {
    for (const std::uint64_t n : {0u, 1u, 7u, 1000u}) {
      for (const std::uint64_t chunk : {0u, 3u}) {
        hits h(static_cast<std::size_t>(GetParam().ranks), n);
        const auto to = reinterpret_cast<hits_address>(&h);
        GetParam().run(
            [&](world& w) { w.run(loops(&w, n, {.chunk = chunk, .where = where}, to)); });
        for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(h.at(i), 2) << i;
        const auto last = static_cast<std::size_t>(GetParam().ranks) - 1;
        std::uint64_t here = 0;
        for (const auto& x : h.by_rank[last]) here += static_cast<std::uint64_t>(x.load());
        const auto share = n == 0 ? 0 : (n - 1) / (last + 1) + 1;
        const auto before_last = std::min(n, share * last);
        const auto expected = where == locality::local || last == 0 ? 2 * n
                              : where == locality::partition        ? 2 * (n - before_last)
                                                                    : 0;
        EXPECT_EQ(here, expected);
      }
    }
  }
}

// Follows the calls from a rank that has these of a plan's ranks; returns the deepest level.
int follow(const detail::loop_plan& plan, rank_t at, detail::loop_ranks over,
           std::vector<int>& parts, std::vector<std::pair<std::uint64_t, rank_t>>& firsts) {
  EXPECT_EQ(plan.rank_at(over.first), at);
  const auto part = plan.part_at(over.first);
  EXPECT_LT(part.first, part.last);
  ++parts[static_cast<std::size_t>(at)];
  firsts.emplace_back(part.first, at);
  int deepest = 0;
  for (const auto b : detail::branches_of({over.first + 1, over.last})) {
    EXPECT_LT(b.first, b.last);
    deepest = std::max(deepest, 1 + follow(plan, plan.rank_at(b.first), b, parts, firsts));
  }
  return deepest;
}

TEST(TaskLoopPlan, GivesEachIterationToOneRankAlongAShallowTree) {
  for (const rank_t size : {1, 2, 3, 16, 17, 18, 19, 64, 300, 1024}) {
    for (const rank_t origin : {0, size / 3, size - 1}) {
      for (const auto where : {locality::partition, locality::local, locality::remote}) {
        for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{17}, std::uint64_t{1000},
                                      std::uint64_t{100'000}, ~std::uint64_t{0}}) {
          const auto plan = detail::plan_of_loop(n, {.where = where, .tasks = 1}, origin, size, 1);
          std::vector<int> parts(static_cast<std::size_t>(size));
          std::vector<std::pair<std::uint64_t, rank_t>> firsts;
          int deepest = 0;
          if (plan.starts_at_origin()) {
            deepest = follow(plan, origin, {0, plan.ranks}, parts, firsts);
          } else {
            for (const auto b : detail::branches_of({0, plan.ranks})) {
              deepest =
                  std::max(deepest, 1 + follow(plan, plan.rank_at(b.first), b, parts, firsts));
            }
          }
          EXPECT_LE(deepest, size <= 17 ? 1 : size <= 273 ? 2 : 3);
          for (const auto p : parts) EXPECT_LE(p, 1);
          // Blocks in the order of the ranks, one behind the other.
          std::ranges::sort(firsts);
          std::uint64_t end = 0;
          for (std::size_t i = 0; i < firsts.size(); ++i) {
            ASSERT_EQ(firsts[i].first, end);
            end += std::min(plan.share, n - end);
            const auto at = firsts[i].second;
            EXPECT_TRUE(i == 0 || firsts[i - 1].second < at);
            EXPECT_TRUE(where != locality::remote || size == 1 || at != origin);
            EXPECT_TRUE(where != locality::local || at == origin);
          }
          EXPECT_EQ(end, n);
        }
      }
    }
  }
}

task::task<void> inner(world& w, std::uint64_t begin, std::uint64_t end, std::uint64_t columns,
                       hits_address to) {
  for (auto i = begin; i < end; ++i) {
    co_await w.parallel_for<&hit>(columns, loop_options{.chunk = 2}, to);
  }
}
task::task<void> outer(world* w, hits_address to) {
  co_await w->parallel_for<&inner>(10, loop_options{.chunk = 1}, 20u, to);
}

TEST_P(TaskLoop, LoopsNest) {
  hits h(static_cast<std::size_t>(GetParam().ranks), 20);
  const auto to = reinterpret_cast<hits_address>(&h);
  GetParam().run([&](world& w) { w.run(outer(&w, to)); });
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(h.at(i), 10 * GetParam().ranks);
}

task::task<void> breaks(world&, std::uint64_t begin, std::uint64_t end) {
  co_await task::yield();
  if (begin <= 500 && 500 < end) throw std::runtime_error("iteration 500");
}
task::task<bool> catches(world* w) {
  try {
    co_await w->parallel_for<&breaks>(1000, loop_options{});
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "iteration 500");
    co_return true;
  }
  co_return false;
}

TEST_P(TaskLoop, AnExceptionOfTheBodyReachesTheTask) {
  GetParam().run([](world& w) { EXPECT_TRUE(w.run(catches(&w))); });
}

std::atomic<int> num_chunks = 0;
void count_chunk(world&, std::uint64_t, std::uint64_t) noexcept { ++num_chunks; }
task::task<void> longest_loop(world* w) {
  constexpr auto n = ~std::uint64_t{0};
  co_await w->parallel_for<&count_chunk>(
      n, loop_options{.chunk = n / 2 + 1, .where = locality::local});
}

TEST(TaskLoopOnOneRank, MayHaveAsManyIterationsAsANumber) {
  world w(2);
  num_chunks = 0;
  w.run(longest_loop(&w));
  EXPECT_EQ(num_chunks, 2);
}

task::task<void> cancels_at(world& w, std::uint64_t begin, std::uint64_t) {
  if (begin == 77) w.cancel();
  co_await task::yield();
}
task::task<void> cancelled_loop(world* w) {
  co_await w->parallel_for<&cancels_at>(1'000'000, loop_options{.chunk = 1});
}

TEST_P(TaskLoop, CancelEndsIt) {
  GetParam().run([](world& w) {
    EXPECT_THROW(w.run(cancelled_loop(&w)), cancelled);
    EXPECT_EQ(w.tasks().num_live(), 0u);
    w.barrier();
    EXPECT_TRUE(w.run(catches(&w)));
  });
}

}  // namespace
}  // namespace cairn::am::parallel_for_test
