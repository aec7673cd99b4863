// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <cairn/activity/operator.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::algo {

inline constexpr std::uint64_t no_edge = ~std::uint64_t{0};  // heavier than any

/// An edge from a tree to another one.
template <class Id>
struct outgoing_edge {
  std::uint64_t weight = no_edge;  // ordered
  Id source = 0, target = 0;       // source < target
  Id there = 0;                    // the other tree's root

  [[nodiscard]] bool lighter_than(const outgoing_edge& o) const {
    return std::tie(weight, source, target) < std::tie(o.weight, o.source, o.target);
  }
};

/// A root's record keeps the lightest edge out of its tree. Fire and forget, may fail.
template <class Id>
struct offer_edge {
  struct message {
    Id root;
    outgoing_edge<Id> edge;
  };
  pgas::vertex_view<outgoing_edge<Id>> lightest;

  void elements(const message& m, auto&& each) const { each(lightest.at(m.root)); }
  bool wanted(const message& m) const {  // weights only fall, so a stale one is no lighter
    return m.edge.weight <= tm::load_cell(lightest.at(m.root).here().weight);
  }
  bool attempt(auto& tx, const message& m) const {
    if (!m.edge.lighter_than(tx.read(lightest, m.root))) return false;
    tx.write(lightest, m.root, m.edge);
    return true;
  }
};

/// Sends the message that merges the trees of v and of the edge's other end, unless they are one by
/// now. Forest is as below.
template <class Id>
void join_trees(const auto& forest, Id v, outgoing_edge<Id> edge, auto& send) {
  const Id here = forest.climb(v);
  edge.there = forest.climb(edge.there);
  if (here != edge.there) send({here, edge});
}

/// Two roots become one, unless one of them no longer is one; then the spawner climbs towards those
/// that are. Fire and return, may fail.
///
/// Parents   by value or reference: of each vertex that was a root, its parent, which is smaller
/// Forest    climb(v): an ancestor of v, v itself if it is a root or another rank's;
///           take(worker, edge): the edge belongs to the forest
template <class Id, class Parents, class Forest>
struct merge_trees {
  struct message {
    Id here;
    outgoing_edge<Id> edge;
  };
  struct parents {
    Id here, there;
  };
  Parents parent;
  Forest& forest;

  void elements(const message& m, auto&& each) const {
    each(parent.at(m.here));
    each(parent.at(m.edge.there));
  }
  activity::outcome<parents> attempt(auto& tx, const message& m) const {
    const Id a = m.here, c = m.edge.there;
    const parents now{tx.read(parent, a), tx.read(parent, c)};
    if (now.here != a || now.there != c) return {false, now};
    tx.write(parent, std::max(a, c), std::min(a, c));
    return {true, now};
  }
  void answer(const message& m, const activity::outcome<parents>& merged, auto& at) {
    if (merged.done) return forest.take(at.worker(), m.edge);
    auto edge = m.edge;
    edge.there = merged.value.there;
    join_trees(forest, merged.value.here, edge, at);
  }
};

}  // namespace cairn::algo
