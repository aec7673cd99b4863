// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <tuple>
#include <utility>
#include <variant>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/dtx/executor.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/boruvka.hpp"
#include "algo/fetch.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

constexpr std::size_t chunk_vertices = 256;
constexpr double ns_of_vertex = 20;  // about, as most of them look at an edge

template <class Id>
struct boruvka {
  using edge = outgoing_edge<Id>;
  using merge_here = merge_trees<Id, pgas::vertex_view<Id>, boruvka>;
  using activities = activity::executor<merge_here>;  // one rank
  using merge_anywhere = merge_trees<Id, const dtx::owned_vertex_map<Id>&, boruvka>;

  struct hooking {};
  struct transactions {  // if they were asked for
    explicit transactions(boruvka& b)
        : parent(b.w, b.g.partition(), 0),
          merges(b.data, merge_anywhere{parent, b}, {.at_once = 2, .grain = 128}, parent) {
      b.each_own([&](worker_t, Id v) { parent.local()[v - parent.first()] = v; });
    }
    // Of every vertex that ever was a root; not flattened.
    dtx::owned_vertex_map<Id> parent;
    dtx::executor<merge_anywhere> merges;
  };

  boruvka(world& world, const graph::dist_csr<Id>& graph, const mst_options& opt)
      : w(world),
        g(graph),
        asked(opt.merge),
        root(w, g.partition(), 0),
        lightest(w, g.partition(), edge{}),
        data(w, opt.activity),
        offers(data, offer_edge<Id>{lightest.view()}),
        edges(w.workers()),
        found(w.workers()),
        neighbors(w, root),
        above(w, root),
        chosen(w, [this](worker_t k, std::span<const edge> batch) {
          for (const auto& e : batch) keep(k, e);
        }) {
    if (w.size() == 1) {
      merger.template emplace<activities>(data, merge_here{root.view(), *this});
    } else if (opt.merge == mst_merge::transactions) {
      merger.template emplace<transactions>(*this);
    }
    each_own([&](worker_t, Id v) { root.store(v, v); });
    if (w.size() > 1) neighbors.choose(other_ranks_neighbors());
  }

  std::vector<Id> other_ranks_neighbors() {
    each_own([&](worker_t k, Id v) {
      for (const Id u : g.out().neighbors(v)) {
        if (!root.owns(u)) found[k].push_back(u);
      }
    });
    return take_found();
  }

  void each_own(auto&& f) { traverse::for_each_own(w, g.out(), f, ns_of_vertex); }
  void each_of(const std::vector<Id>& vertices, auto&& f) {
    traverse::for_each_of(w, std::span(vertices), f, ns_of_vertex);
  }

  // What the workers have found, each id once for each worker.
  std::vector<Id> take_found() {
    w.parallel_for(
        static_cast<std::size_t>(w.workers()),
        [&](worker_t, std::size_t k, std::size_t) {
          auto& some = found[static_cast<worker_t>(k)];
          std::sort(some.begin(), some.end());
          some.erase(std::unique(some.begin(), some.end()), some.end());
        },
        1);
    return concatenated();
  }
  std::vector<Id> concatenated() {
    std::vector<Id> all;
    for (auto& some : found) {
      all.insert(all.end(), some.value.begin(), some.value.end());
      some.value.clear();
    }
    return all;
  }

  void keep(worker_t k, const edge& e) {
    edges[k].push_back({e.source, e.target, from_ordered(e.weight)});
  }
  void take(worker_t k, const edge& e) {
    if (root.owns(e.source)) {
      keep(k, e);
    } else {
      chosen.send(k, root.owner(e.source), e);
    }
  }

  // Afterwards each root's record holds the lightest edge out of its tree.
  void find_outgoing_edges() {
    neighbors.refresh();
    each_own([&](worker_t, Id v) { lightest.local()[v - lightest.first()] = {}; });
    am::epoch epoch(w);
    with_weights(g.out(), [&](auto weights) {
      w.parallel_for(
          root.local().size(),
          [&](worker_t k, std::size_t begin, std::size_t end) {
            const auto roots = root.view();
            offers.spawn(k, [&](auto& send) {
              for (auto i = begin; i < end; ++i) {
                const auto v = static_cast<Id>(root.first() + i);
                const Id mine = tm::load_cell(roots.element(v));
                const auto best = lightest_of(v, mine, roots, weights(v));
                if (best.weight != no_edge) send({mine, best});
              }
            });
          },
          chunk_vertices);
    });
    epoch.close();
  }

  template <class Weights>
  [[nodiscard]] edge lightest_of(Id v, Id mine, const pgas::vertex_view<Id>& roots,
                                 const Weights& weights) const {
    edge best;
    const auto row = g.out().neighbors(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Id u = row[i];
      const Id there = roots.owns(u) ? tm::load_cell(roots.element(u)) : neighbors(u);
      if (there == mine) continue;
      const edge e{to_ordered(weights[i]), std::min(v, u), std::max(v, u), there};
      if (e.lighter_than(best)) best = e;
    }
    return best;
  }

  [[nodiscard]] std::vector<Id> roots_with_an_edge() {
    const auto& records = std::as_const(lightest);
    each_own([&](worker_t k, Id v) {
      if (records.local()[v - root.first()].weight != no_edge) found[k].push_back(v);
    });
    return concatenated();
  }
  [[nodiscard]] const edge& edge_of(Id r) const { return lightest.local()[r - root.first()]; }

  // Towards the root of v's tree, while others merge, as far as own vertices lead.
  [[nodiscard]] Id climb(Id v) const {
    const auto* const over_ranks = std::get_if<transactions>(&merger);
    const auto& parent = over_ranks ? over_ranks->parent.values() : root;
    while (parent.owns(v)) {
      const Id next = parent.load(v);
      if (next == v) break;
      v = next;
    }
    return v;
  }

  void merge_by(auto& merges, const std::vector<Id>& ready) {
    am::epoch epoch(w);
    w.parallel_for(
        ready.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          merges.spawn(k, [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              join_trees<Id>(*this, ready[i], edge_of(ready[i]), send);
            }
          });
        },
        chunk_vertices);
    epoch.close();
  }

  void merge(const std::vector<Id>& ready) {
    if (auto* const here = std::get_if<activities>(&merger)) {
      merge_by(*here, ready);
      each_own([&](worker_t, Id v) { root.store(v, climb(v)); });
      return;
    }
    if (auto* const over_ranks = std::get_if<transactions>(&merger)) {
      merge_by(over_ranks->merges, ready);
      each_of(ready, [&](worker_t, Id r) { root.store(r, climb(r)); });
    } else {
      hook(ready);
    }
    while (halve_paths()) {
    }
  }

  // A root points where its edge leads. Of two that point at each other the smaller stays root and
  // leaves the edge to the larger, which takes it whatever it reads of the smaller's parent.
  void hook(const std::vector<Id>& ready) {
    each_of(ready, [&](worker_t k, Id r) {
      const Id there = edge_of(r).there;
      root.store(r, there);
      if (!root.owns(there)) found[k].push_back(there);
    });
    above.choose(take_found());
    above.refresh();
    am::epoch epoch(w);
    each_of(ready, [&](worker_t k, Id r) {
      const auto& e = edge_of(r);
      if (r < e.there && above(e.there) == r) {
        root.store(r, r);
      } else {
        take(k, e);
      }
    });
    epoch.close();
  }

  // A parent that another worker replaces meanwhile is an ancestor before and after.
  bool halve_paths() {
    each_own([&](worker_t k, Id v) {
      const Id r = root.load(v);
      if (!root.owns(r) && (found[k].empty() || found[k].back() != r)) found[k].push_back(r);
    });
    above.choose(take_found());
    above.refresh();
    std::atomic<bool> changed = false;
    each_own([&](worker_t, Id v) {
      const Id parent = root.load(v), next = above(parent);
      if (next == parent) return;
      root.store(v, next);
      changed.store(true, std::memory_order_relaxed);
    });
    return w.any(changed);
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
      w.pool().throw_if_interrupted();
    }
    return all;
  }

  // How trees merged, and why so.
  [[nodiscard]] std::pair<std::string_view, std::string_view> merged() const {
    if (std::holds_alternative<activities>(merger)) return {"activities", "there is one rank"};
    if (std::holds_alternative<transactions>(merger)) return {"transactions", "it was asked for"};
    if (asked == mst_merge::hooking) return {"hooking", "it was asked for"};
    return {"hooking", "there are several ranks, and transactions were not asked for"};
  }

  mst_result<Id> run() {
    std::uint64_t rounds = 0;
    for (;; ++rounds) {
      find_outgoing_edges();
      const auto ready = roots_with_an_edge();
      if (!w.any(!ready.empty())) break;
      merge(ready);
    }
    auto mine = sorted_edges();
    double weight = 0;
    for (const auto& e : mine) weight += e.weight;
    const auto n = w.sum(std::uint64_t{mine.size()});
    const auto total = w.sum(weight);
    const auto [merge, why] = merged();
    return {std::move(mine), n, g.num_vertices() - n, total, rounds, offers.ran(), merge, why};
  }

  world& w;
  const graph::dist_csr<Id>& g;
  const mst_merge asked;
  pgas::vertex_map<Id> root;        // of each vertex's tree; while trees merge, on the way there
  pgas::vertex_map<edge> lightest;  // of each root
  activity::domain data;
  activity::executor<offer_edge<Id>> offers;
  std::variant<hooking, activities, transactions> merger;
  task::per_worker<std::vector<mst_edge<Id>>> edges;
  task::per_worker<std::vector<Id>> found;
  fetched<Id> neighbors;  // the roots of other ranks' vertices that own edges lead to
  fetched<Id> above;      // the parents of other ranks' roots
  am::channel<edge> chosen;
};

}  // namespace

template <class Id>
mst_result<Id> mst(world& w, const graph::dist_csr<Id>& g, const mst_options& opt) {
  CAIRN_EXPECTS(!g.directed(), "build or load the graph with .symmetrize = true");
  if (w.size() == 1 && opt.merge != mst_merge::automatic) {
    throw usage_error("trees merge by hooking or transactions over several ranks; this is one");
  }
  return boruvka<Id>(w, g, opt).run();
}

template mst_result<std::uint32_t> mst(world&, const graph::dist_csr<std::uint32_t>&,
                                       const mst_options&);
template mst_result<std::uint64_t> mst(world&, const graph::dist_csr<std::uint64_t>&,
                                       const mst_options&);

}  // namespace cairn::algo
