// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// Replaces the parent of v, unless somebody has replaced it since it was `seen`. Returns whether.
template <class Id>
bool replace_parent(const pgas::vertex_map<Id>& parent, Id v, Id seen, Id by) {
  return std::atomic_ref(parent.at(v).element())
      .compare_exchange_strong(seen, by, std::memory_order_relaxed);
}

/// The last vertex on the path from v to its root that this rank can reach, while others merge.
///
/// Halves the path: otherwise merging a path of trees takes quadratic time for some numberings.
/// Only parents of vertices that are no roots are replaced, and only if nobody has replaced them
/// since: a plain store could overwrite the root that another worker has just stored.
///
/// Parents   pgas::vertex_map<Id>; tests substitute one whose every access is a step of a schedule
template <class Parents, class Id>
[[nodiscard]] Id climb_in(const Parents& parent, Id v) {
  while (parent.owns(v)) {
    const Id next = parent.load(v);
    if (next == v || !parent.owns(next)) return next;
    const Id above = parent.load(next);
    if (above == next) return next;
    replace_parent(parent, v, next, above);
    v = above;
  }
  return v;
}

}  // namespace cairn::algo
