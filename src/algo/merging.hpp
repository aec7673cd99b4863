// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/dtx/executor.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/boruvka.hpp"
#include "algo/lightest_edges.hpp"
#include "algo/path_halving.hpp"
#include "algo/pointer_jumping.hpp"
#include "algo/spanning_forest.hpp"

// Three policies for merging the trees of a forest along their roots' lightest edges. Each has
//
//   merge(ready)     merges the trees of this rank's roots in `ready`, which have an outgoing edge.
//                    Afterwards each vertex's root is the root of its tree. Collective

namespace cairn::algo {

/// Paths to roots over several ranks, shortened by pointer jumping.
template <class Id>
class root_paths {
 public:
  explicit root_paths(spanning_forest<Id>& f) : f_(f), parents_(f.w, f.root) {}

  /// Until every vertex points at its root. `former` were the roots before.
  void flatten(std::span<const Id> former) {
    parents_.flatten(former, [](Id) {});
    parents_.jump();
  }

  /// Points each root at the root at the other end of its edge.
  void hook(std::span<const Id> ready) {
    auto& root = f_.root;
    traverse::for_each_of(f_.w, ready, [&](worker_t k, Id r) {
      const Id other_root = f_.edge_of(r).other_root;
      root.store(r, other_root);
      if (!root.owns(other_root)) parents_.want(k, other_root);
    });
    parents_.fetch();
    traverse::push_each(f_.w, f_.edges, ready, [&](Id r, auto& take) {
      f_.settle(r, parents_.parent_of(f_.edge_of(r).other_root), take);
    });
  }

 private:
  spanning_forest<Id>& f_;
  pointer_jumping<Id> parents_;
};

/// Sends for each root of `ready` the message that merges its tree with another.
template <class Id>
void join_all(spanning_forest<Id>& f, auto& merges, std::span<const Id> ready, const auto& merger) {
  traverse::push_each(f.w, merges, ready,
                      [&](Id r, auto& send) { join_trees<Id>(merger, r, f.edge_of(r), send); });
}

/// On one rank: an activity over both roots.
template <class Id>
class activity_merging {
  using op = merge_trees<Id, pgas::vertex_view<Id>, activity_merging>;

 public:
  activity_merging(spanning_forest<Id>& f, activity::domain& data)
      : f_(f), merges_(data, op{f.root.view(), *this}) {}

  void merge(std::span<const Id> ready) {
    join_all(f_, merges_, ready, *this);
    f_.each_own([&](worker_t, Id v) { f_.root.store(v, climb(v)); });
  }
  [[nodiscard]] Id climb(Id v) const { return climb_in(f_.root, v); }
  void take(worker_t k, const outgoing_edge<Id>& e) { f_.edges.take(k, e); }

 private:
  spanning_forest<Id>& f_;
  activity::executor<op> merges_;
};

/// On several ranks: the same operator as a transaction.
template <class Id>
class transaction_merging {
  using op = merge_trees<Id, const dtx::owned_vertex_map<Id>&, transaction_merging>;

 public:
  transaction_merging(spanning_forest<Id>& f, activity::domain& data)
      : f_(f),
        parent_(f.w, f.root.partition(), 0),
        merges_(data, op{parent_, *this}, {.max_concurrent = 2, .grain = 128}, parent_),
        paths_(f) {
    f.each_own([&](worker_t, Id v) { parent_.local()[v - parent_.first()] = v; });
  }

  void merge(std::span<const Id> ready) {
    join_all(f_, merges_, ready, *this);
    traverse::for_each_of(f_.w, ready, [&](worker_t, Id r) { f_.root.store(r, climb(r)); });
    paths_.flatten(ready);
  }
  [[nodiscard]] Id climb(Id v) const { return climb_in(parent_.values(), v); }
  void take(worker_t k, const outgoing_edge<Id>& e) { f_.edges.take(k, e); }

 private:
  spanning_forest<Id>& f_;
  dtx::owned_vertex_map<Id> parent_;  // of every vertex that was ever a root; not flattened
  dtx::executor<op> merges_;
  root_paths<Id> paths_;
};

/// On several ranks: each root points at the root at the other end of its edge.
template <class Id>
class hook_merging {
 public:
  explicit hook_merging(spanning_forest<Id>& f) : f_(f), paths_(f) {}

  void merge(std::span<const Id> ready) {
    paths_.hook(ready);
    paths_.flatten(ready);
  }

  /// Before the first merge(): merges trees of this rank along its own edges, without messages, as
  /// long as a part of them have such an edge as their lightest one. Removes roots of finished
  /// trees from `roots`, whose records are empty afterwards. Collective: an epoch.
  void merge_own(lightest_edges<Id>& outgoing, traverse::worklist<Id>& roots) {
    am::epoch epoch(f_.w);
    while (merge_once(outgoing, roots)) {
    }
    epoch.close();
  }

 private:
  // Returns whether another round is likely to pay off.
  bool merge_once(lightest_edges<Id>& outgoing, traverse::worklist<Id>& roots) {
    auto& w = f_.w;
    auto& root = f_.root;
    outgoing.find([](Id u) { return u; });
    const auto all = roots.take();
    traverse::worklist<Id> own(w);
    traverse::for_each_of(w, all, [&](worker_t k, Id r) {
      const auto& e = f_.edge_of(r);
      if (e.weight == no_edge) return;  // finished, or no longer a root
      roots.add(k, r);
      if (root.owns(e.other_root)) own.add(k, r);
    });
    const auto ready = own.take();
    traverse::for_each_of(w, ready,
                          [&](worker_t, Id r) { root.store(r, f_.edge_of(r).other_root); });
    traverse::for_each_of(w, ready, [&](worker_t k, Id r) {
      f_.settle(r, root.load(f_.edge_of(r).other_root),
                [&](const outgoing_edge<Id>& e) { f_.edges.take(k, e); });
    });
    f_.each_own([&](worker_t, Id v) { root.store(v, climb_in(root, v)); });
    traverse::for_each_of(w, all, [&](worker_t, Id r) { f_.edge_of(r) = {}; });
    return ready.size() > all.size() / 16;
  }

  spanning_forest<Id>& f_;
  root_paths<Id> paths_;
};

}  // namespace cairn::algo
