// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <cairn/algo/mst.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/boruvka.hpp"
#include "algo/sort.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {

/// Collects the edges of a forest. Workers add edges, which are sent to the ranks that own their
/// sources.
///
/// Collective  constructor; edges are added while an epoch is open
template <class Id>
class forest_edges {
 public:
  forest_edges(world& w, const pgas::partition& vertices)
      : w_(w),
        vertices_(vertices),
        parts_(w.workers()),
        to_owner_(w,
                  [this](worker_t k, std::span<const outgoing_edge<Id>> batch) {
                    for (const auto& e : batch) keep(k, e);
                  },
                  {.sends = false}) {}

  /// from(k)(edge), called by worker k: see traverse/push.hpp.
  [[nodiscard]] auto from(worker_t k) {
    return [this, k](const outgoing_edge<Id>& e) { take(k, e); };
  }
  void take(worker_t k, const outgoing_edge<Id>& e) {
    const auto owner = vertices_.owner(e.source);
    if (owner == w_.rank()) {
      keep(k, e);
    } else {
      to_owner_.send(k, owner, e);
    }
  }

  /// The edges whose source this rank owns, ascending. Called once, after the last epoch.
  [[nodiscard]] std::vector<mst_edge<Id>> sorted() {
    const auto before = [](const auto& a, const auto& b) {
      return std::tie(a.source, a.target) < std::tie(b.source, b.target);
    };
    w_.parallel_for(
        static_cast<std::size_t>(w_.workers()),
        [&](worker_t k, std::size_t part, std::size_t) {
          sort_in_loop(w_, k, parts_[static_cast<worker_t>(part)], before);
        },
        1);
    std::vector<mst_edge<Id>> all;
    for (auto& some : parts_) {
      const auto middle = all.size();
      append_interruptibly(w_, all, some.value);
      merge_interruptibly(w_, all, middle, before);
    }
    return all;
  }

 private:
  void keep(worker_t k, const outgoing_edge<Id>& e) {
    parts_[k].push_back({e.source, e.target, from_ordered(e.weight)});
  }

  world& w_;
  const pgas::partition vertices_;
  task::per_worker<std::vector<mst_edge<Id>>> parts_;
  am::channel<outgoing_edge<Id>> to_owner_;
};

/// A growing forest: the root of each vertex's tree, and the edges of all trees.
///
/// Collective  constructor
template <class Id>
struct spanning_forest {
  spanning_forest(world& world, const pgas::partition& vertices)
      : w(world),
        root(w, vertices, 0),
        lightest(w, vertices, outgoing_edge<Id>{}),
        edges(w, vertices) {
    each_own([&](worker_t, Id v) { root.store(v, v); });
  }

  [[nodiscard]] const outgoing_edge<Id>& edge_of(Id r) const {
    return lightest.local()[r - root.first()];
  }
  void each_own(auto&& f) {
    traverse::for_each_own(
        w, root, [&](worker_t k, std::uint64_t v) { f(k, static_cast<Id>(v)); }, ns_of_vertex);
  }

  static constexpr double ns_of_vertex = 20;  // approximate; most loops read one edge

  world& w;
  pgas::vertex_map<Id> root;  // of each vertex's tree; an ancestor during a merge
  pgas::vertex_map<outgoing_edge<Id>> lightest;  // by root
  forest_edges<Id> edges;
};

}  // namespace cairn::algo
