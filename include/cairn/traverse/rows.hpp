// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/graph/csr.hpp>
#include <cairn/traverse/frontier.hpp>

namespace cairn::traverse {

/// Prefetch distances, in vertices.
inline constexpr std::size_t row_ahead = 8, offset_ahead = 16;

/// Approximate time to visit a row of `degree` edges, for chunk_of.
inline constexpr double ns_of_vertex = 8, ns_of_edge = 2;
[[nodiscard]] constexpr double ns_of_row(double degree) noexcept {
  return ns_of_vertex + ns_of_edge * degree;
}
/// The mean of ns_of_row over all rows.
template <class Id>
[[nodiscard]] double mean_ns_of_row(const graph::csr<Id>& rows) noexcept {
  const auto n = std::max<std::uint64_t>(1, rows.num_rows());
  return ns_of_row(static_cast<double>(rows.num_edges()) / static_cast<double>(n));
}

/// Calls f(v, row) for each vertex of a list in any order, and prefetches the rows. Returns the sum
/// of f's results: the number of visited edges.
template <class Id, class F>
[[gnu::always_inline]] inline std::uint64_t each_row(const graph::csr<Id>& rows,
                                                     std::span<const Id> list, F&& f) {
  const auto at = rows.rows();
  const auto n = list.size();
  std::uint64_t edges = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + offset_ahead < n) at.prefetch_offset(list[i + offset_ahead]);
    if (i + row_ahead < n) at.prefetch_row(list[i + row_ahead]);
    edges += f(list[i], at.neighbors(list[i]));
  }
  return edges;
}

/// each_row for vertices [v, last).
template <class Id, class F>
[[gnu::always_inline]] inline std::uint64_t each_row(const graph::csr<Id>& rows, std::uint64_t v,
                                                     std::uint64_t last, F&& f) {
  const auto at = rows.rows();
  std::uint64_t edges = 0;
  for (; v < last; ++v) {
    if (v + row_ahead < last) at.prefetch_row(v + row_ahead);
    edges += f(static_cast<Id>(v), at.neighbors(v));
  }
  return edges;
}

/// Calls f(u) once for each distinct target u of a row.
template <class Id, class F>
[[gnu::always_inline]] inline void each_distinct(std::span<const Id> row, F&& f) {
  for (Id before = no_vertex<Id>; const Id u : row) {  // rows are ascending
    if (u != before) f(u);
    before = u;
  }
}

/// The number of edges of a frontier's own vertices. It is estimated from about `sample` vertices
/// if there are more than four times as many.
template <class Id>
[[nodiscard]] std::uint64_t num_edges(const graph::csr<Id>& rows, const frontier<Id>& f,
                                      std::size_t sample) {
  if (f.size() == 0) return 0;
  std::uint64_t edges = 0, vertices = 0;
  const auto count = [&](std::uint64_t v) {
    edges += rows.degree(v);
    ++vertices;
  };
  if (f.is_list()) {
    const auto list = f.window();
    const auto step = list.size() <= 4 * sample ? 1 : list.size() / sample;
    for (std::size_t i = 0; i < list.size(); i += step) count(list[i]);
  } else {
    const auto words = f.own_bits().words().size();
    const auto read = std::clamp(words * sample / f.size(), std::min(words, sample / 16), words);
    const auto step = words / read;
    for (std::size_t k = 0; k < words; k += step) {
      f.own_bits().for_each(k, k + 1, [&](std::size_t i) { count(rows.first() + i); });
    }
  }
  if (vertices == 0) return f.size();
  return static_cast<std::uint64_t>(static_cast<double>(edges) * static_cast<double>(f.size()) /
                                    static_cast<double>(vertices));
}

}  // namespace cairn::traverse
