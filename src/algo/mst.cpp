// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/base/error.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/boruvka.hpp"
#include "algo/fetch.hpp"
#include "algo/merging.hpp"
#include "algo/spanning_forest.hpp"
#include "algo/wanted_ids.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

template <class Id>
struct boruvka {
  using edge = outgoing_edge<Id>;

  boruvka(world& world, const graph::dist_csr<Id>& graph, const mst_options& opt)
      : w(world),
        g(graph),
        forest(w, g.partition()),
        data(w, opt.activity),
        offers(data, offer_edge<Id>{forest.lightest.view()}),
        found(w),
        neighbors(w, forest.root) {
    if (w.size() == 1) {
      merging.template emplace<activity_merging<Id>>(forest, data);
      return;
    }
    if (opt.merge == mst_merge::transactions) {
      merging.template emplace<transaction_merging<Id>>(forest, data);
    } else {
      merging.template emplace<hook_merging<Id>>(forest);
    }
    wanted_ids<Id> remote(w);
    forest.each_own([&](worker_t k, Id v) {
      for (const Id u : g.out().neighbors(v)) {
        if (!forest.root.owns(u)) remote.add(k, u);
      }
    });
    neighbors.choose(remote);
  }

  // Stores the lightest outgoing edge of each tree in its root's record.
  void find_outgoing_edges() {
    neighbors.refresh();
    forest.each_own([&](worker_t, Id v) { forest.lightest.local()[v - g.out().first()] = {}; });
    with_edges(g.out(), [&](auto edges) {
      const auto offer = [&](auto& send, worker_t, std::size_t begin, std::size_t end) {
        const auto roots = forest.root.view();
        std::uint64_t looked = 0;
        for (auto v = g.out().first() + begin; v < g.out().first() + end; ++v) {
          const Id mine = tm::load_cell(roots.element(v));
          const auto best = lightest_of(static_cast<Id>(v), mine, roots, edges(v));
          if (best.weight != no_edge) send({mine, best});
          looked += g.out().degree(v);
        }
        return looked;
      };
      const auto own = g.out().num_rows();
      traverse::push_ranges(w, offers, own, offer, traverse::chunk_of(w, own, forest.ns_of_vertex));
    });
  }

  [[nodiscard]] edge lightest_of(Id v, Id mine, const pgas::vertex_view<Id>& roots,
                                 const auto& edges) const {
    edge best;
    for (const auto [u, weight] : edges) {
      const Id other_root = roots.owns(u) ? tm::load_cell(roots.element(u)) : neighbors(u);
      if (other_root == mine) continue;
      const edge e{to_ordered(weight), std::min(v, u), std::max(v, u), other_root};
      if (e.lighter_than(best)) best = e;
    }
    return best;
  }

  [[nodiscard]] std::span<const Id> roots_with_an_edge() {
    forest.each_own([&](worker_t k, Id v) {
      if (std::as_const(forest).edge_of(v).weight != no_edge) found.add(k, v);
    });
    return found.take();
  }

  void merge(std::span<const Id> ready) {
    std::visit(
        [&](auto& policy) {
          if constexpr (requires { policy.merge(ready); }) policy.merge(ready);
        },
        merging);
  }

  world& w;
  const graph::dist_csr<Id>& g;
  spanning_forest<Id> forest;
  activity::domain data;
  activity::executor<offer_edge<Id>> offers;
  std::variant<std::monostate, activity_merging<Id>, transaction_merging<Id>, hook_merging<Id>>
      merging;
  traverse::worklist<Id> found;
  fetched<Id> neighbors;  // roots of the remote endpoints of this rank's edges
};

// The total weight of a forest, which must not exceed the largest double.
template <class Id>
double weight_of_all(world& w, const graph::labels& names, std::span<const mst_edge<Id>> mine) {
  double weight = 0;
  for (const auto& e : mine) weight += e.weight;
  const auto total = w.sum(weight);
  if (std::isfinite(total)) return total;
  const auto heaviest_of = [](std::span<const mst_edge<Id>> edges) {
    mst_edge<Id> found{no_vertex<Id>, no_vertex<Id>, 0};
    for (const auto& e : edges) {
      if (std::abs(e.weight) > std::abs(found.weight)) found = e;
    }
    return found;
  };
  const auto heaviest = heaviest_of(w.all_gather(heaviest_of(mine)));
  throw input_error("the edge from " + names.text_of(heaviest.source) + " to " +
                    names.text_of(heaviest.target) + " has weight " +
                    text_of_weight(heaviest.weight) +
                    ": the total weight of the forest exceeds the largest double");
}

// The merge method and the reason for it.
std::pair<std::string_view, std::string_view> merged(rank_t ranks, mst_merge requested) {
  if (ranks == 1) return {"activities", "there is one rank"};
  if (requested == mst_merge::transactions) return {"transactions", "it was requested"};
  if (requested == mst_merge::hooking) return {"hooking", "it was requested"};
  return {"hooking", "there are several ranks, and transactions were not requested"};
}

}  // namespace

template <class Id>
mst_result<Id> mst(world& w, const graph::dist_csr<Id>& g, const mst_options& opt) {
  CAIRN_EXPECTS(!g.directed(),
                "undirected edges are needed: build or load the graph with .symmetrize = true");
  if (w.size() == 1 && opt.merge != mst_merge::automatic) {
    throw usage_error("merging by hooking or transactions needs several ranks, but there is one");
  }
  boruvka<Id> b(w, g, opt);
  std::uint64_t rounds = 0;
  for (;; ++rounds) {
    b.find_outgoing_edges();
    const auto ready = b.roots_with_an_edge();
    if (!w.any(!ready.empty())) break;
    b.merge(ready);
  }
  auto mine = b.forest.edges.sorted();
  const auto n = w.sum(std::uint64_t{mine.size()});
  const auto total = weight_of_all<Id>(w, g.labels(), mine);
  const auto [merge, why] = merged(w.size(), opt.merge);
  return {std::move(mine), n, g.num_vertices() - n, total, rounds, b.offers.ran(), merge, why};
}

template mst_result<std::uint32_t> mst(world&, const graph::dist_csr<std::uint32_t>&,
                                       const mst_options&);
template mst_result<std::uint64_t> mst(world&, const graph::dist_csr<std::uint64_t>&,
                                       const mst_options&);

}  // namespace cairn::algo
