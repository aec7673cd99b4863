// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/error.hpp>
#include <cairn/traverse/push.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::traverse::push_test {
namespace {

using id = std::uint32_t;

// Counts the messages to a vertex.
struct count {
  struct message {
    id v;
  };
  pgas::vertex_view<std::uint64_t> counts;

  auto cell(const message& m) const { return counts.at(m.v); }
  void attempt(auto cell, const message&) const { cell.add(1); }
};

constexpr auto to_targets = [](id, std::span<const id> row, auto& send) {
  for (const id u : row) send({u});
};

class Push : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Push, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, Push, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

// Own vertices that are a multiple of three.
std::vector<id> own_third(const graph::dist_csr<id>& g) {
  std::vector<id> list;
  for (auto v = g.out().first(); v < g.out().last(); ++v) {
    if (v % 3 == 0) list.push_back(static_cast<id>(v));
  }
  return list;
}

TEST_P(Push, SendsAlongTheEdgesOfAListAndCountsThem) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto g = support::random_graph(seed);
    auto reversed = g;
    for (auto& e : reversed.edges) std::swap(e.source, e.target);
    auto rows = g.neighbors();
    const auto into = reversed.neighbors();
    std::vector<std::uint64_t> expected(g.n);
    std::uint64_t edges = 0;
    for (std::uint64_t v = 0; v < g.n; v += 3) {
      if (g.directed) rows[v].insert(rows[v].end(), into[v].begin(), into[v].end());
      for (const auto u : rows[v]) ++expected[u];
      edges += rows[v].size();
    }
    GetParam().with_seed(seed).run([&](world& w) {
      const auto share = support::share_of<id>(g, w.rank(), w.size());
      pgas::vertex_map<std::uint64_t> counts(w, share.partition(), 0);
      activity::executor<count> counting(w, count{counts.view()});
      const auto list = own_third(share);
      push_along(w, counting, edges_both_ways(share), std::span<const id>(list), to_targets);
      EXPECT_EQ(support::whole(w, counts), expected) << g.name;
      EXPECT_EQ(w.sum(w.counters().total(obs::counter::edges)), edges) << g.name;
      std::atomic<std::uint64_t> degrees = 0;
      const auto along = edges_both_ways(share);
      std::uint64_t longest = 0;
      for (auto v = share.out().first(); v < share.out().last(); ++v) {
        longest = std::max(longest, along.degree(v));
      }
      EXPECT_EQ(along.max_degree(w), longest);
      visit_all_edges(w, along, std::span<const id>(list), [&](worker_t, id v) {
        std::uint64_t degree = 0;
        along.each_neighbor(v, [&](id) { ++degree; });
        EXPECT_EQ(along.degree(v), degree);
        degrees += degree;
      });
      EXPECT_EQ(w.sum(degrees), edges) << g.name;
      EXPECT_EQ(w.sum(w.counters().total(obs::counter::edges)), 2 * edges) << g.name;
    });
  }
}

TEST_P(Push, SendsInRangesOfTargetsWhatItSendsByRow) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto g = support::random_graph(seed);
    GetParam().with_seed(seed).run([&](world& w) {
      if (w.size() > 1) return;  // ranges are for one rank
      const auto share = support::share_of<id>(g, w.rank(), w.size());
      const auto list = own_third(share);
      pgas::vertex_map<std::uint64_t> by_row(w, share.partition(), 0);
      activity::executor<count> rows(w, count{by_row.view()});
      push_along(w, rows, edges<id>(share.out()), std::span<const id>(list), to_targets);
      const auto looked = w.counters().total(obs::counter::edges);
      for (const std::uint64_t num_edges : {0, 100'000'000}) {  // few ranges, many ranges
        pgas::vertex_map<std::uint64_t> counts(w, share.partition(), 0);
        activity::executor<count> counting(w, count{counts.view()});
        push_to_ranges(w, counting, share.out(), std::span<const id>(list), to_targets, num_edges);
        EXPECT_EQ(support::whole(w, counts), support::whole(w, by_row)) << g.name;
      }
      EXPECT_EQ(w.counters().total(obs::counter::edges), 3 * looked) << g.name;
    });
  }
}

TEST_P(Push, CallsBackForEachElementOnceThroughExecutorsAndChannels) {
  const auto g = support::path(1'000);
  GetParam().run([&](world& w) {
    const auto share = support::share_of<id>(g, w.rank(), w.size());
    const auto& rows = share.out();
    const auto& p = share.partition();
    pgas::vertex_map<std::uint64_t> counts(w, p, 0);
    activity::executor<count> counting(w, count{counts.view()});
    am::channel<id> add(w, [&](worker_t, std::span<const id> batch) {
      for (const id v : batch) std::atomic_ref(counts.local()[v - counts.first()]).fetch_add(10);
    });
    // Each vertex sends to the one that lies opposite.
    const auto opposite = [&](std::uint64_t v) { return static_cast<id>(p.n() - 1 - v); };
    push_own(w, counting, rows, [&](id v, auto& send) { send({opposite(v)}); });
    push_own(w, add, rows, [&](id v, auto& send) {
      send(p.owner(opposite(v)), opposite(v));
      return std::uint64_t{2};  // edges
    });
    std::vector<std::uint64_t> own(counts.local().size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = counts.first() + i;
    push_each(
        w, counting, std::span<const std::uint64_t>(own),
        [&](std::uint64_t v, auto& send) { send({opposite(v)}); }, 1e5);
    for (const auto x : counts.local()) ASSERT_EQ(x, 12u);
    EXPECT_EQ(w.counters().total(obs::counter::edges), 2 * own.size());
  });
}

// Reaches each vertex once, using only worklists.
struct reach {
  struct message {
    id v;
  };
  pgas::vertex_view<std::uint64_t> reached;
  worklist<id>& next;

  auto cell(const message& m) const { return reached.at(m.v); }
  bool wanted(std::uint64_t found, const message&) const { return found == 0; }
  bool attempt(auto cell, const message&) const { return cell.claim(0, 1) == 0; }
  void after(const message& m, auto& at) { next.add(at.worker(), m.v); }
};

// A search by push_deep from the vertices of `next`.
struct deep_search {
  deep_search(world& world, const support::plain_graph& g)
      : w(world),
        share(support::share_of<id>(g, w.rank(), w.size())),
        reached(w, share.partition(), 0),
        next(w),
        visits(w, reach{reached.view(), next},
               {.mechanism = w.workers() == 1 ? activity::mechanism::automatic
                                              : activity::mechanism::atomics}) {}
  std::uint64_t run(auto visit) {
    return push_deep(w, visits, edges<id>(share.out()), next, visit);
  }

  world& w;
  const graph::dist_csr<id> share;
  pgas::vertex_map<std::uint64_t> reached;
  worklist<id> next;
  activity::executor<reach> visits;
};

TEST_P(Push, GoesDeepWhereVerticesAreOwn) {
  const auto g = support::path(5'000);
  GetParam().run([&](world& w) {
    deep_search search(w, g);
    if (search.reached.owns(0)) {
      search.reached.store(0, 1);
      search.next.add(main_worker, 0);
    }
    const auto steps = search.run(to_targets);
    EXPECT_TRUE(search.next.empty());
    for (const auto x : search.reached.local()) ASSERT_EQ(x, 1u);
    EXPECT_LT(steps, g.n / 50);
    EXPECT_EQ(w.sum(w.counters().total(obs::counter::edges)), 2 * (g.n - 1));
  });
}

TEST_P(Push, GoesDeepFromVerticesOfOneWorker) {
  constexpr std::uint64_t leaves = 3'000;
  support::plain_graph spider{"leaves with a vertex each", 2 * leaves, true, {}};
  for (std::uint64_t v = 0; v < leaves; ++v) spider.edges.push_back({v, 2 * leaves - 1 - v});
  GetParam().run([&](world& w) {
    deep_search search(w, spider);
    for (auto v = search.reached.first(); v < leaves && search.reached.owns(v); ++v) {
      search.next.add(main_worker, static_cast<id>(v));
    }
    search.run(to_targets);
    EXPECT_TRUE(search.next.empty());
    std::uint64_t v = search.reached.first();
    for (const auto x : search.reached.local()) ASSERT_EQ(x, v++ < leaves ? 0u : 1u);
    EXPECT_EQ(w.sum(w.counters().total(obs::counter::edges)), leaves);
  });
}

TEST(Worklist, SharesHalfOfManyElementsWithOtherWorkers) {
  world w(2);
  const worker_t giver{0}, taker{1};
  worklist<id> list(w);
  const auto add = [&](id n) {
    for (id x = 0; x < n; ++x) list.add(giver, x);
  };
  add(99);
  list.share(giver, 100);
  EXPECT_TRUE(list.take_own_or_shared(taker, 64).empty());
  add(1);
  list.share(giver, 100);
  list.share(giver, 10);  // nobody has taken the elements
  EXPECT_EQ(list.size(), 100u);
  EXPECT_EQ(list.take_own_or_shared(taker, 30).size(), 30u);
  EXPECT_EQ(list.take_own_or_shared(taker, 64).size(), 20u);
  EXPECT_TRUE(list.take_own_or_shared(taker, 64).empty());
  EXPECT_EQ(list.take_own_or_shared(giver, 64).size(), 50u);
  EXPECT_TRUE(list.empty());
}

// Vertices that are added for ever.
TEST_P(Push, GoesDeepUntilARunIsCancelled) {
  const auto g = support::path(500);
  GetParam().run([&](world& w) {
    const auto share = support::share_of<id>(g, w.rank(), w.size());
    worklist<id> next(w);
    am::channel<id> unused(w, [](worker_t, std::span<const id>) {});
    for (auto v = share.out().first(); v < share.out().last(); ++v) {
      next.add(main_worker, static_cast<id>(v));
    }
    std::atomic<int> visited{0};
    const auto again = [&](worker_t k, id v, std::span<const id>, auto&) {
      if (++visited == 5'000 && w.rank() == w.size() - 1) w.cancel();
      next.add(k, v);
    };
    EXPECT_THROW(push_deep(w, unused, edges<id>(share.out()), next, again), cancelled);
    EXPECT_EQ(w.sum(1u), static_cast<std::uint64_t>(w.size()));
  });
}

TEST_P(Push, GoesDeepUntilACallbackThrows) {
  const auto run = [] {
    GetParam().run([&](world& w) {
      const auto share = support::share_of<id>(support::path(500), w.rank(), w.size());
      worklist<id> next(w);
      am::channel<id> unused(w, [](worker_t, std::span<const id>) {});
      if (share.out().first() == 0) next.add(main_worker, 0);
      const auto fails = [](id, std::span<const id>, auto&) { throw std::runtime_error("enough"); };
      push_deep(w, unused, edges<id>(share.out()), next, fails);
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

// A worker that has added many vertices leaves most of them to all workers.
TEST(PushOfOne, GoesDeepForOneChunkAtATime) {
  constexpr std::uint64_t leaves = 40'000;
  support::plain_graph spider{"leaves with a vertex each", 2 * leaves, true, {}};
  for (std::uint64_t v = 0; v < leaves; ++v) spider.edges.push_back({v, leaves + v});
  world w;
  deep_search search(w, spider);
  for (id v = 0; v < leaves; ++v) search.next.add(main_worker, v);
  const auto first = w.messages().epoch() + 1;
  std::uint64_t later = 0;  // vertices that the first superstep left
  search.run([&](id v, std::span<const id> row, auto& send) {
    later += w.messages().epoch() > first ? 1 : 0;
    to_targets(v, row, send);
  });
  EXPECT_GT(later, leaves / 2);
}

TEST(PushOfOne, VisitsFewRowsAtATimeIfTheyAreLong) {
  constexpr std::uint64_t n = 400;
  world w;
  const auto share = support::share_of<id>(support::complete(n), 0, 1);
  am::channel<id> unused(w, [](worker_t, std::span<const id>) {});
  std::uint64_t visited = 0;
  EXPECT_THROW(push_own(w, unused, share.out(),
                        [&](id, auto&) {
                          ++visited;
                          w.cancel();
                        }),
               cancelled);
  EXPECT_LT(visited, n / 2);
}

TEST(Worklist, GivesEachElementOut) {
  constexpr worker_t first{0}, second{1};
  world w(2);
  worklist<int> list(w);
  EXPECT_TRUE(list.empty());
  list.add(first, 1);
  list.add(second, 2);
  list.add(second, 3);
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.size(), 3u);
  const auto last = list.take_own(second, 1);
  EXPECT_EQ(std::vector(last.begin(), last.end()), (std::vector{3}));
  EXPECT_EQ(list.size(), 2u);
  const auto own = list.take_own(second, 2);
  EXPECT_EQ(std::vector(own.begin(), own.end()), (std::vector{2}));
  EXPECT_TRUE(list.take_own(second, 2).empty());
  EXPECT_EQ(list.size(), 1u);
  list.add(second, 4);
  const auto all = list.take();
  EXPECT_EQ(std::vector(all.begin(), all.end()), (std::vector{1, 4}));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.size(), 0u);
  EXPECT_TRUE(list.take().empty());
}

TEST(Worklist, JoinsLongListsOrStops) {
  constexpr int n = 200'000;
  world w(2);
  worklist<int> list(w);
  const auto fill = [&] {
    for (int i = 0; i < n; ++i) list.add(worker_t(i < 10 ? 0 : 1), i);
  };
  fill();
  const auto all = list.take();
  ASSERT_EQ(all.size(), std::size_t{n});
  for (int i = 0; i < n; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
  fill();
  w.cancel();
  EXPECT_THROW(static_cast<void>(list.take()), cancelled);
}

}  // namespace
}  // namespace cairn::traverse::push_test
