// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>
#include <variant>

#include <cairn/algo/mst.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/boruvka.hpp"
#include "algo/lightest_edges.hpp"
#include "algo/merging.hpp"
#include "algo/neighbor_values.hpp"
#include "algo/spanning_forest.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

template <class Id>
struct boruvka {
  boruvka(world& world, const graph::dist_csr<Id>& graph, const mst_options& opt)
      : w(world),
        g(graph),
        forest(w, g.partition()),
        data(w, opt.activity),
        outgoing(g, forest, data),
        roots(w),
        neighbors(w, g, forest.root) {
    forest.each_own([&](worker_t k, Id v) { roots.add(k, v); });
    if (w.size() == 1) {
      merging.template emplace<activity_merging<Id>>(forest, data);
      return;
    }
    if (opt.merge == mst_merge::transactions) {
      merging.template emplace<transaction_merging<Id>>(forest, data);
    } else {
      merging.template emplace<hook_merging<Id>>(forest).merge_own(outgoing, roots);
    }
    neighbors.choose();
  }

  // The roots of this rank whose trees have outgoing edges; the other trees are finished.
  [[nodiscard]] std::span<const Id> find_outgoing_edges() {
    neighbors.refresh();
    am::epoch epoch(w);
    outgoing.find(neighbors);
    epoch.close();
    traverse::for_each_of(w, roots.take(), [&](worker_t k, Id v) {
      if (forest.edge_of(v).weight != no_edge) roots.add(k, v);
    });
    return roots.take();
  }

  void merge(std::span<const Id> ready) {
    std::visit(
        [&](auto& policy) {
          if constexpr (requires { policy.merge(ready); }) policy.merge(ready);
        },
        merging);
    traverse::for_each_of(w, ready, [&](worker_t k, Id r) {
      forest.edge_of(r) = {};
      roots.add(k, r);
    });
  }

  world& w;
  const graph::dist_csr<Id>& g;
  spanning_forest<Id> forest;
  activity::domain data;
  lightest_edges<Id> outgoing;
  std::variant<std::monostate, activity_merging<Id>, transaction_merging<Id>, hook_merging<Id>>
      merging;
  traverse::worklist<Id> roots;   // may contain former ones
  neighbor_values<Id> neighbors;  // roots of the remote endpoints of this rank's edges
};

// The total weight of a forest, which must not exceed the largest double.
template <class Id>
double weight_of_all(world& w, const graph::labels& names, std::span<const mst_edge<Id>> mine) {
  double weight = 0;
  for (const auto& e : mine) weight += e.weight;
  if (const auto total = w.sum(weight); std::isfinite(total)) return total;
  double scaled = 0;  // a part of the sum may be too large although the sum is not
  for (const auto& e : mine) scaled += e.weight * 0x1p-64;
  if (const auto total = w.sum(scaled) * 0x1p64; std::isfinite(total)) return total;
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
    const auto ready = b.find_outgoing_edges();
    if (!w.any(!ready.empty())) break;
    b.merge(ready);
  }
  auto mine = b.forest.edges.sorted();
  const auto n = w.sum(std::uint64_t{mine.size()});
  const auto total = weight_of_all<Id>(w, g.labels(), mine);
  const auto [merge, why] = merged(w.size(), opt.merge);
  return {std::move(mine), n, g.num_vertices() - n, total, rounds, b.outgoing.ran(), merge, why};
}

template mst_result<std::uint32_t> mst(world&, const graph::dist_csr<std::uint32_t>&,
                                       const mst_options&);
template mst_result<std::uint64_t> mst(world&, const graph::dist_csr<std::uint64_t>&,
                                       const mst_options&);

}  // namespace cairn::algo
