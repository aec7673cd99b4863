// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/graph/csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/chunk.hpp>

namespace cairn::traverse {

/// Own vertices [first, last).
template <class Id>
struct own_range {
  using id_type = Id;
  std::uint64_t first, last;
  [[nodiscard]] std::uint64_t size() const noexcept { return last - first; }
};

template <class Id>
[[nodiscard]] own_range<Id> own_of(const graph::csr<Id>& rows) noexcept {
  return {rows.first(), rows.last()};
}
template <class T>
[[nodiscard]] own_range<std::uint64_t> own_of(const pgas::vertex_map<T>& map) noexcept {
  return {map.first(), map.first() + map.local().size()};
}

/// Calls f(worker, first, last) for disjoint ranges that cover the own vertices of `vertices`, a
/// vertex map or a graph's rows. For loops that keep values in registers.
///
/// ns_each   approximate time per vertex: see chunk_of
template <class Vertices, class F>
void for_own_ranges(world& w, const Vertices& vertices, F&& f, double ns_each = 5) {
  const auto own = own_of(vertices);
  w.parallel_for(
      own.size(),
      [&](worker_t k, std::size_t begin, std::size_t end) {
        f(k, own.first + begin, own.first + end);
      },
      chunk_of(w, own.size(), ns_each));
}

/// Calls f(worker, v) for each own vertex v of `vertices`. v has the graph's id type, or 64 bits
/// for a map.
template <class Vertices, class F>
void for_each_own(world& w, const Vertices& vertices, F&& f, double ns_each = 5) {
  using id = typename decltype(own_of(vertices))::id_type;
  for_own_ranges(
      w, vertices,
      [&](worker_t k, std::uint64_t v, std::uint64_t last) {
        for (; v < last; ++v) f(k, static_cast<id>(v));
      },
      ns_each);
}

/// Calls f(worker, x) for each x of a list.
template <class T, class F>
void for_each_of(world& w, std::span<const T> list, F&& f, double ns_each = 5) {
  w.parallel_for(
      list.size(),
      [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) f(k, list[i]);
      },
      chunk_of(w, list.size(), ns_each));
}

}  // namespace cairn::traverse
