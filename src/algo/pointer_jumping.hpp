// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/fetch.hpp"

namespace cairn::algo {

/// Shortens paths to roots over several ranks. A map has the parent of each vertex: itself for a
/// root, no_vertex for a vertex that takes no part.
///
/// Depth       two epochs and a reduction for each halving of the longest path
/// Collective  constructor, destructor, fetch() and flatten()
template <class Id>
class pointer_jumping {
 public:
  pointer_jumping(world& w, pgas::vertex_map<Id>& parent)
      : w_(w), parent_(parent), above_(w, parent), found_(w) {}

  /// Worker k wants the parent of v, a vertex of another rank; fetch() gets the parents of all that
  /// are wanted, and parent_of(v) returns it.
  void want(worker_t k, Id v) {
    auto& found = found_.own(k);
    if (found.empty() || found.back() != v) found.push_back(v);
  }
  void fetch() {
    above_.choose(found_);
    above_.refresh();
  }
  [[nodiscard]] Id parent_of(Id v) const { return above_(v); }

  /// Until every vertex points at its root. Calls moved(v) for each vertex of this rank each time
  /// that it gets another parent.
  template <class Moved>
  void flatten(Moved&& moved) {
    while (halve(moved)) {
    }
  }

 private:
  // A parent that another worker replaces concurrently is an ancestor before and after.
  bool halve(auto& moved) {
    each_own([&](worker_t k, std::uint64_t, Id parent) {
      if (!parent_.owns(parent)) want(k, parent);
    });
    fetch();
    std::atomic<bool> changed = false;
    each_own([&](worker_t, std::uint64_t v, Id parent) {
      const Id next = above_(parent);
      if (next == parent) return;
      parent_.store(v, next);
      moved(v);
      changed.store(true, std::memory_order_relaxed);
    });
    return w_.any(changed.load());
  }

  void each_own(auto&& f) {
    constexpr double ns_of_vertex = 20;  // approximate
    traverse::for_each_own(
        w_, parent_,
        [&](worker_t k, std::uint64_t v) {
          const Id parent = parent_.load(v);
          if (parent != no_vertex<Id>) f(k, v, parent);
        },
        ns_of_vertex);
  }

  world& w_;
  pgas::vertex_map<Id>& parent_;
  fetched<Id> above_;  // parents of vertices of other ranks
  traverse::worklist<Id> found_;
};

}  // namespace cairn::algo
