// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

/// Calls f(worker, first, last) for ranges that cover rows [0, n) once, with about equal sums of
/// edges and rows. If each edge costs `longest` steps, a range takes some milliseconds, so that
/// cancel() and messages are noticed between ranges and workers finish at about the same time. A
/// row is in one range, however long.
///
/// begin_of   index of a row's first edge: ascending, at most `edges`
template <class Begin, class F>
void for_edge_ranges(world& w, std::size_t n, std::uint64_t edges, std::uint64_t longest,
                     Begin&& begin_of, F&& f) {
  constexpr std::uint64_t steps = 4 << 20, min_shared = 256;
  // With several ranks ranges are smaller, because messages wait for the end of a range.
  const std::uint64_t max_size = w.size() > 1 ? 1 << 12 : 1 << 16;
  const auto share = (edges + n) / (16 * static_cast<std::uint64_t>(w.workers())) + 1;
  const auto size = std::min(
      {steps / std::max<std::uint64_t>(1, longest) + 1, max_size, std::max(share, min_shared)});
  // the first row that begins in this range or later
  const auto first_of = [&](std::uint64_t range) {
    if (range == 0) return std::size_t{0};
    std::size_t low = 0, high = n;
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (begin_of(middle) + middle < range * size) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const auto ranges = (edges + n) / size + 1;
  w.parallel_for(
      ranges,
      [&](worker_t k, std::size_t range, std::size_t) {
        const auto last = range + 1 == ranges ? n : first_of(range + 1);
        if (const auto row = first_of(range); row < last) f(k, row, last);
      },
      1);
}
/// For the rows of a graph: first and last are vertices.
template <class Id, class F>
void for_edge_ranges(world& w, const graph::csr<Id>& rows, std::uint64_t longest, F&& f) {
  const auto begin_of = [at = rows.offsets()](std::size_t i) { return at[i] - at[0]; };
  for_edge_ranges(w, rows.num_rows(), rows.num_edges(), longest, begin_of,
                  [&](worker_t k, std::size_t begin, std::size_t end) {
                    f(k, rows.first() + begin, rows.first() + end);
                  });
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
