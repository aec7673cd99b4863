// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <cairn/activity/operator.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::algo {

inline constexpr std::uint64_t no_edge = ~std::uint64_t{0};  // heavier than any edge

/// An edge from one tree to another.
template <class Id>
struct outgoing_edge {
  std::uint64_t weight = no_edge;  // in the form of to_ordered()
  Id source = 0, target = 0;       // source < target
  Id other_root = 0;               // root of the tree at the other end

  [[nodiscard]] bool lighter_than(const outgoing_edge& o) const {
    return std::tie(weight, source, target) < std::tie(o.weight, o.source, o.target);
  }
};

/// Lowers the lightest outgoing edge in a root's record. Fire and forget, may fail.
template <class Id>
struct offer_edge {
  struct message {
    Id root;
    outgoing_edge<Id> edge;
  };
  pgas::vertex_view<outgoing_edge<Id>> lightest;

  void elements(const message& m, auto&& each) const { each(lightest.at(m.root)); }
  bool wanted(const message& m) const {  // weights only fall, so a stale one is an upper bound
    return m.edge.weight <= tm::load_cell(lightest.at(m.root).element().weight);
  }
  bool attempt(auto& tx, const message& m) const {
    if (!m.edge.lighter_than(tx.read(lightest, m.root))) return false;
    tx.write(lightest, m.root, m.edge);
    return true;
  }
};

/// Sends the message that merges the tree of v with the tree at the edge's other end, unless they
/// are already one tree. Forest: see merge_trees.
template <class Id>
void join_trees(const auto& forest, Id v, outgoing_edge<Id> edge, auto& send) {
  const Id root = forest.climb(v);
  edge.other_root = forest.climb(edge.other_root);
  if (root != edge.other_root) send({root, edge});
}

/// Merges the trees of two roots. Fails if one of them is no longer a root; the sender then climbs
/// towards the current roots and tries again. Fire and return, may fail.
///
/// Parents   by value or reference: the parent of each vertex that was a root; it is smaller
/// Forest    climb(v): an ancestor of v, may shorten the path to it; v itself if it is a root or
/// belongs to another rank.
///           take(worker, edge): adds an edge to the forest
template <class Id, class Parents, class Forest>
struct merge_trees {
  struct message {
    Id root;
    outgoing_edge<Id> edge;
  };
  struct parents {
    Id root, other_root;
  };
  Parents parent;
  Forest& forest;

  void elements(const message& m, auto&& each) const {
    each(parent.at(m.root));
    each(parent.at(m.edge.other_root));
  }
  activity::outcome<parents> attempt(auto& tx, const message& m) const {
    const Id a = m.root, c = m.edge.other_root;
    const parents now{tx.read(parent, a), tx.read(parent, c)};
    if (now.root != a || now.other_root != c) return {false, now};
    tx.write(parent, std::max(a, c), std::min(a, c));
    return {true, now};
  }
  void answer(const message& m, const activity::outcome<parents>& merged, auto& at) {
    if (merged.done) return forest.take(at.worker(), m.edge);
    auto edge = m.edge;
    edge.other_root = merged.value.other_root;
    join_trees(forest, merged.value.root, edge, at);
  }
};

}  // namespace cairn::algo
