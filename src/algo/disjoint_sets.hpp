// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cairn/pgas/vertex_map.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::algo {

/// The parents of this rank's vertices as trees: a parent is no larger than its child, and a root
/// is its own parent. Pass it by value: through a reference its members are reloaded after each
/// store.
template <class Id>
class trees {
 public:
  explicit trees(pgas::vertex_map<Id>& parent) : parents_(parent.local().data() - parent.first()) {}

  [[nodiscard]] Id& cell(Id v) const noexcept { return parents_[v]; }
  [[nodiscard]] Id parent(Id v) const noexcept { return tm::load_cell(cell(v)); }
  void point(Id v, Id to) const noexcept {
    std::atomic_ref(cell(v)).store(to, std::memory_order_relaxed);
  }
  [[nodiscard]] Id root(Id v) const noexcept {
    for (Id above = parent(v); above != v; above = parent(v)) v = above;
    return v;
  }

 private:
  Id* parents_;  // points where vertex 0 would be, which saves a subtraction per load
};

/// Joins the trees of x and y, vertices of this rank. A parent is smaller than its child, so the
/// smaller root stays root.
///
/// Both paths are climbed together. Each step takes the vertex with the larger parent and gives it
/// the smaller one. This shortens the paths, and the climb ends where they meet. A vertex remains
/// connected to every parent that it had, or the worker that replaced the parent connects them.
/// Therefore any number of workers may join concurrently.
///
/// Access    plain_access if no other worker joins, else atomic_access. With plain_access and
///           concurrent joins each tree stays within one component, but trees may remain unjoined
/// Returns   whether the number of roots decreased
/// Source    [Patwary10] Rem's algorithm with splicing; with compare-and-swap as in [Dhulipala20]
template <class Access, class Id>
[[gnu::always_inline]] inline bool join(trees<Id> t, Id x, Id y) {
  Id above_x = t.parent(x), above_y = t.parent(y);
  while (above_x != above_y) {
    if (above_x < above_y) {
      std::swap(x, y);
      std::swap(above_x, above_y);
    }
    if constexpr (std::is_same_v<Access, tm::plain_access>) {
      t.point(x, above_y);
    } else if (const Id found = tm::cell_ref<Id, Access>(t.cell(x)).claim(above_x, above_y);
               found != above_x) {
      above_x = found;
      continue;
    }
    if (x == above_x) return true;
    x = above_x;
    above_x = t.parent(x);
  }
  return false;
}

/// Joins the trees of v and u by plain stores. For a root v this takes one step if u is smaller.
template <class Id>
[[gnu::always_inline]] inline void hook(trees<Id> t, Id v, Id u) {
  if (t.parent(v) == v) {
    t.point(v, t.parent(std::min(v, u)));  // without a branch: which is smaller is unpredictable
    if (u < v) return;
  }
  join<tm::plain_access>(t, v, u);
}

/// Points this rank's vertices [v, last) at their roots. No worker joins meanwhile.
///
/// Ascending order: a parent is smaller than its child, so it usually points at its root already.
template <class Id>
void flatten(trees<Id> t, Id v, std::uint64_t last) {
  for (; v < last; ++v) {
    const Id above = t.parent(v), root = t.root(above);
    if (root != above) t.point(static_cast<Id>(v), root);
  }
}

}  // namespace cairn::algo
