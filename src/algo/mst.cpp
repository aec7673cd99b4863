// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>

#include "algo/fetch.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

constexpr std::size_t chunk_vertices = 256;
constexpr std::uint64_t no_edge = ~std::uint64_t{0};  // heavier than any

template <class Id>
struct boruvka {
  struct way_out {                   // an edge to another tree
    std::uint64_t weight = no_edge;  // ordered
    Id source = 0, target = 0;       // source < target
    Id there = 0;                    // the other tree's root

    [[nodiscard]] bool lighter_than(const way_out& o) const {
      return std::tie(weight, source, target) < std::tie(o.weight, o.source, o.target);
    }
  };

  struct offer {  // the operator: a root's record keeps the lightest edge
    struct message {
      Id root;
      way_out edge;
    };
    boruvka& b;

    void elements(const message& m, auto&& each) const { each(b.lightest.at(m.root)); }
    bool wanted(const message& m) const {  // weights only fall, so a stale one is no lighter
      return m.edge.weight <= tm::load_cell(b.lightest.at(m.root).here().weight);
    }
    bool attempt(auto& tx, const message& m) const {
      if (!m.edge.lighter_than(tx.read(b.lightest, m.root))) return false;
      tx.write(b.lightest, m.root, m.edge);
      return true;
    }
  };

  // Fire and return, may fail: two roots become one, unless one of them no longer is one; then
  // the spawner climbs to those that are.
  struct merge {
    struct message {
      Id here;
      way_out edge;
    };
    boruvka& b;

    void elements(const message& m, auto&& each) const {
      each(b.root.at(m.here));
      each(b.root.at(m.edge.there));
    }
    // Returns what is above `here` now.
    activity::outcome<Id> attempt(auto& tx, const message& m) const {
      const Id a = m.here, c = m.edge.there, above = tx.read(b.root, a);
      if (above != a || tx.read(b.root, c) != c) return {false, above};
      tx.write(b.root, std::max(a, c), std::min(a, c));
      return {true, std::min(a, c)};
    }
    void answer(const message& m, const activity::outcome<Id>& merged, auto& at) {
      if (merged.done) return b.take(at.worker(), m.edge);
      b.join(merged.value, m.edge, at);
    }
  };

  boruvka(world& world, const graph::dist_csr<Id>& graph, const mst_options& opt)
      : w(world),
        g(graph),
        root(w, g.partition(), 0),
        lightest(w, g.partition(), way_out{}),
        data(w, opt.activity),
        offers(data, offer{*this}),
        merges(data, merge{*this}),
        edges(w.workers()),
        neighbors(w, root),
        above(w, root),
        chosen(w, [this](worker_t k, std::span<const way_out> batch) {
          for (const auto& e : batch) keep(k, e);
        }) {
    each_own([&](worker_t, Id v) { root.store(v, v); });
    std::vector<Id> others;
    if (w.size() > 1) {
      each_row([&](Id v) {
        for (const Id u : g.out().neighbors(v)) {
          if (!root.owns(u)) others.push_back(u);
        }
      });
    }
    neighbors.choose(std::move(others));
  }

  template <class F>
  void each_row(F&& f) {
    for (auto v = g.out().first(); v < g.out().last(); ++v) f(static_cast<Id>(v));
  }
  template <class F>
  void each_own(F&& f) {
    const auto first = root.first();
    w.parallel_for(
        root.local().size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto v = static_cast<Id>(first + begin); v < first + end; ++v) f(k, v);
        },
        chunk_vertices);
  }

  void keep(worker_t k, const way_out& e) {
    edges[k].push_back({e.source, e.target, from_ordered(e.weight)});
  }
  void take(worker_t k, const way_out& e) {
    if (root.owns(e.source)) {
      keep(k, e);
    } else {
      chosen.send(k, root.owner(e.source), e);
    }
  }

  way_out lightest_of(Id v) const {
    way_out best;
    const Id mine = root.load(v);
    const auto row = g.out().neighbors(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Id there = neighbors(row[i]);
      if (there == mine) continue;
      const way_out e{to_ordered(weight_at(g.out(), v, i)), std::min(v, row[i]),
                      std::max(v, row[i]), there};
      if (e.lighter_than(best)) best = e;
    }
    return best;
  }

  // Afterwards each root's record holds the lightest edge out of its tree.
  void find_ways_out() {
    neighbors.refresh();
    each_own([&](worker_t, Id v) { lightest.local()[v - lightest.first()] = {}; });
    am::epoch epoch(w);
    w.parallel_for(
        root.local().size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          offers.spawn(k, [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              const auto v = static_cast<Id>(root.first() + i);
              const auto best = lightest_of(v);
              if (best.weight != no_edge) send({root.load(v), best});
            }
          });
        },
        chunk_vertices);
    epoch.close();
  }

  [[nodiscard]] std::vector<Id> roots_with_a_way_out() const {
    std::vector<Id> ready;
    for (std::size_t i = 0; i < lightest.local().size(); ++i) {
      if (lightest.local()[i].weight != no_edge) ready.push_back(static_cast<Id>(root.first() + i));
    }
    return ready;
  }

  // To the root of v's tree, while others merge.
  Id climb(Id v) const {
    for (Id next = root.load(v); next != v; next = root.load(v)) v = next;
    return v;
  }

  // The trees of v and of the edge's other end, unless they are one by now.
  void join(Id v, way_out edge, auto& send) const {
    const Id here = climb(v);
    edge.there = climb(edge.there);
    if (here != edge.there) send({here, edge});
  }

  void merge_here(const std::vector<Id>& ready) {  // one rank
    am::epoch epoch(w);
    w.parallel_for(
        ready.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          merges.spawn(k, [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              join(ready[i], std::as_const(lightest).local()[ready[i]], send);
            }
          });
        },
        chunk_vertices);
    epoch.close();
    each_own([&](worker_t, Id v) { root.store(v, climb(v)); });
  }

  // Several ranks: a root points where its edge leads; of a pair the smaller stays root.
  void merge_over_ranks(const std::vector<Id>& ready) {
    std::vector<Id> others;
    for (const Id r : ready) {
      const Id there = std::as_const(lightest).local()[r - root.first()].there;
      root.store(r, there);
      if (!root.owns(there)) others.push_back(there);
    }
    above.choose(std::move(others));
    above.refresh();
    std::vector<Id> still_roots;
    am::epoch epoch(w);
    for (const Id r : ready) {
      const auto& edge = std::as_const(lightest).local()[r - root.first()];
      if (above(edge.there) == r && r < edge.there) {
        still_roots.push_back(r);
      } else {
        take(0, edge);
      }
    }
    for (const Id r : still_roots) root.store(r, r);
    epoch.close();
    while (halve_paths()) {
    }
  }

  bool halve_paths() {
    std::vector<Id> others;
    each_row([&](Id v) {
      if (const Id r = root.load(v); !root.owns(r)) others.push_back(r);
    });
    above.choose(std::move(others));
    above.refresh();
    std::vector<Id> next(root.local().size());
    each_own([&](worker_t, Id v) { next[v - root.first()] = above(root.load(v)); });
    const bool same = std::equal(next.begin(), next.end(), root.local().begin());
    std::copy(next.begin(), next.end(), root.local().begin());
    return w.any(!same);
  }

  std::vector<mst_edge<Id>> sorted_edges() {
    const auto before = [](const auto& a, const auto& b) {
      return std::tie(a.source, a.target) < std::tie(b.source, b.target);
    };
    w.parallel_for(
        static_cast<std::size_t>(w.workers()),
        [&](worker_t, std::size_t k, std::size_t) {
          auto& some = edges[static_cast<worker_t>(k)];
          std::sort(some.begin(), some.end(), before);
        },
        1);
    std::vector<mst_edge<Id>> all;
    for (auto& some : edges) {
      const auto middle = static_cast<std::ptrdiff_t>(all.size());
      all.insert(all.end(), some.value.begin(), some.value.end());
      std::inplace_merge(all.begin(), all.begin() + middle, all.end(), before);
    }
    return all;
  }

  mst_result<Id> run() {
    std::uint64_t rounds = 0;
    for (;; ++rounds) {
      find_ways_out();
      const auto ready = roots_with_a_way_out();
      if (!w.any(!ready.empty())) break;
      if (w.size() == 1) {
        merge_here(ready);
      } else {
        merge_over_ranks(ready);
      }
    }
    auto mine = sorted_edges();
    double weight = 0;
    for (const auto& e : mine) weight += e.weight;
    const auto n = w.sum(std::uint64_t{mine.size()});
    const auto total = w.sum(weight);
    return {std::move(mine), n,           g.num_vertices() - n, total, rounds, offers.how(),
            offers.grain(),  offers.why()};
  }

  world& w;
  const graph::dist_csr<Id>& g;
  pgas::vertex_map<Id> root;           // of each vertex's tree; while trees merge, on the way there
  pgas::vertex_map<way_out> lightest;  // of each root
  activity::domain data;
  activity::executor<offer> offers;
  activity::executor<merge> merges;
  task::per_worker<std::vector<mst_edge<Id>>> edges;
  fetched<Id> neighbors;  // the roots of other ranks' vertices that own edges lead to
  fetched<Id> above;      // the parents of other ranks' roots
  am::channel<way_out> chosen;
};

}  // namespace

template <class Id>
mst_result<Id> mst(world& w, const graph::dist_csr<Id>& g, const mst_options& opt) {
  CAIRN_EXPECTS(!g.directed(), "build or load the graph with .symmetrize = true");
  return boruvka<Id>(w, g, opt).run();
}

template mst_result<std::uint32_t> mst(world&, const graph::dist_csr<std::uint32_t>&,
                                       const mst_options&);
template mst_result<std::uint64_t> mst(world&, const graph::dist_csr<std::uint64_t>&,
                                       const mst_options&);

}  // namespace cairn::algo
