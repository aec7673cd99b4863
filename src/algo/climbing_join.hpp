// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "algo/path_halving.hpp"

namespace cairn::algo {

/// The first vertex on the path from v, a vertex of this rank, that is a root or whose parent
/// belongs to another rank. Halves the path.
///
/// A store may overwrite a parent that another worker has just stored in join_in(). Nothing is
/// lost: that worker then joins the parent that it replaced with the new one, and here v gets a
/// vertex that was above the replaced one.
///
/// Parents   pgas::vertex_map<Id>; tests substitute one whose every access is a step of a schedule
template <class Parents, class Id>
[[nodiscard]] Id top_in(Parents& parent, Id v) {
  for (;;) {
    const Id above = parent.load(v);
    if (above == v || !parent.owns(above)) return v;
    const Id next = parent.load(above);
    if (next != above && parent.owns(next)) parent.store(v, next);
    v = above;
  }
}

/// Joins the tree of v, a vertex of this rank, with that of u, while others do the same, by Rem's
/// algorithm. All parents are smaller. If all own parents of own vertices were roots at first, so
/// are the vertices that get parents, and their own parents.
///
/// hooked(v)    called when the root v has got a parent
/// pass(v, u)   called at most once, at last: the owner of v, another rank, has to join v and the
///              smaller u
/// Source       [Patwary10] on one rank
template <class Parents, class Id, class Hooked, class Pass>
void join_in(Parents& parent, Id v, Id u, Hooked&& hooked, Pass&& pass) {
  for (;;) {
    v = top_in(parent, v);
    if (parent.owns(u)) u = top_in(parent, u);
    Id above = parent.load(v);
    if (v == u || above == u) return;
    if (u < above) {
      if (!replace_parent(parent, v, above, u)) continue;
      if (above == v) return hooked(v);
      std::swap(above, u);  // what is left: to join the former parent and the new one
    }
    v = u;
    u = above;
    if (!parent.owns(v)) return pass(v, u);
  }
}

}  // namespace cairn::algo
