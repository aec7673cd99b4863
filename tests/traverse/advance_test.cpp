// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/bfs.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/traverse/advance.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::traverse::advance_test {
namespace {

using id = std::uint32_t;

// Marks vertices, and counts in an operator's own member how many it has marked.
struct mark {
  struct message {
    id v, from;
  };
  static constexpr bool once = true, sends = false;
  static message along(id u, id v) { return {v, u}; }

  pgas::vertex_view<id> step_of;
  frontier<id>& reached;
  std::vector<std::uint64_t>& marked;  // by worker
  const id& step;

  auto cell(const message& m) const { return step_of.at(m.v); }
  bool wanted(id found, const message&) const { return found == no_vertex<id>; }
  bool attempt(auto cell, const message&) const {
    return cell.claim(no_vertex<id>, step) == no_vertex<id>;
  }
  void after(const message& m, auto& at) {
    reached.add(at.worker(), m.v);
    ++marked[static_cast<std::size_t>(at.worker())];
  }
};

/// A search from vertex 0 that has ended.
struct marked_search {
  marked_search(world& w, const graph::dist_csr<id>& share, const advance_options& opt = {})
      : step_of(w, share.partition(), no_vertex<id>),
        reached(w, share.partition()),
        marked(static_cast<std::size_t>(w.workers())),
        search(w, share, reached, {step_of.view(), reached, marked, step}, opt) {
    if (step_of.owns(0)) {
      step_of.store(0, 0);
      reached.add(main_worker, 0);
    }
    do {
      ++step;
    } while (search.superstep());
  }

  pgas::vertex_map<id> step_of;
  frontier<id> reached;
  std::vector<std::uint64_t> marked;
  id step = 0;
  advance<id, mark> search;
};

class Advance : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Advance, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Advance, ReachesEachVertexAtItsDepthInEveryDirection) {
  for (std::uint64_t seed = 0; seed <= 12; ++seed) {
    // The complete graph's second superstep is pushed in ranges of targets.
    const auto g = seed == 0 ? support::complete(200) : support::random_graph(seed);
    const auto depths = algo::ref::bfs_depths(g.n, g.arcs(), 0);
    GetParam().with_seed(seed).run([&](world& w) {
      const auto share = support::share_of<id>(g, w.rank(), w.size());
      for (const auto way : {direction::automatic, direction::push, direction::pull}) {
        marked_search run(w, share, {.direction = way, .trace = true});
        EXPECT_EQ(support::whole(w, run.step_of), depths);
        std::uint64_t found = run.step_of.owns(0) ? 1 : 0, reached_here = 0;
        for (const auto m : run.marked) found += m;
        for (const auto s : run.step_of.local()) reached_here += s != no_vertex<id> ? 1 : 0;
        EXPECT_EQ(found, reached_here);
        const auto trace = run.search.take_trace();
        EXPECT_EQ(trace.size(), run.search.num_supersteps());
        for (std::size_t i = 0; i < trace.size(); ++i) {
          EXPECT_EQ(trace[i].frontier, static_cast<std::uint64_t>(std::ranges::count(depths, i)))
              << i;
        }
        if (way != direction::automatic) {
          EXPECT_EQ(run.search.num_pulls(),
                    way == direction::pull ? run.search.num_supersteps() : 0);
        }
      }
    });
  }
}

TEST_P(Advance, ReachesAllFromARootWithoutInEdges) {
  const support::plain_graph path{"path", 3, true, {{0, 1}, {1, 2}}};
  const support::plain_graph fan{"fan", 5, true, {{0, 1}, {0, 2}, {1, 3}, {2, 4}}};
  for (const auto& g : {path, fan}) {
    const auto depths = algo::ref::bfs_depths(g.n, g.arcs(), 0);
    GetParam().run([&](world& w) {
      const auto share = support::share_of<id>(g, w.rank(), w.size());
      marked_search run(w, share);
      EXPECT_EQ(support::whole(w, run.step_of), depths);
    });
  }
}

TEST_P(Advance, VisitsNoEdgesOnceAllVerticesAreReached) {
  support::plain_graph star{"star", 2001, false, {}};
  for (std::uint64_t leaf = 1; leaf < star.n; ++leaf) star.edges.push_back({0, leaf});
  GetParam().run([&](world& w) {
    const auto share = support::share_of<id>(star, w.rank(), w.size());
    const marked_search run(w, share);
    EXPECT_LE(w.sum(w.counters().total(obs::counter::edges)), star.n);
  });
}

// Cancels when the first vertex is reached.
struct cancelling_mark : mark {
  world& w;
  bool attempt(auto cell, const message& m) const {
    w.cancel();
    return mark::attempt(cell, m);
  }
};

TEST(AdvanceOfOne, PullsFewVerticesAtATimeIfTheyHaveManyEdges) {
  constexpr std::uint64_t n = 1'200;
  world w;
  const auto share = support::share_of<id>(support::complete(n), 0, 1);
  pgas::vertex_map<id> step_of(w, share.partition(), no_vertex<id>);
  frontier<id> reached(w, share.partition());
  std::vector<std::uint64_t> marked(1);
  const id step = 1;
  advance<id, cancelling_mark> search(w, share, reached,
                                      {{step_of.view(), reached, marked, step}, w},
                                      {.direction = direction::pull});
  step_of.store(0, 0);
  reached.add(main_worker, 0);
  EXPECT_THROW(search.superstep(), cancelled);
  EXPECT_LT(marked[0], n - 100);
}

TEST(AdvanceOfOne, RefusesToPullWithoutInEdges) {
  world w;
  auto g = support::random_graph(1);
  g.directed = true;
  const auto share = support::share_of<id>(g, 0, 1, support::in_edges::no);
  pgas::vertex_map<id> step_of(w, share.partition(), no_vertex<id>);
  frontier<id> reached(w, share.partition());
  std::vector<std::uint64_t> marked(1);
  const id step = 0;
  const auto make = [&] {
    advance<id, mark>(w, share, reached, {step_of.view(), reached, marked, step},
                      {.direction = direction::pull});
  };
  EXPECT_THROW(make(), contract_violation);
}

}  // namespace
}  // namespace cairn::traverse::advance_test
