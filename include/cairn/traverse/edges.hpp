// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/chunk.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/rows.hpp>

namespace cairn::traverse {

/// The edges of own vertices that a loop visits, in one or two sets of rows. Passed by value; valid
/// as long as the graph.
template <class Id>
class edges {
 public:
  using id_type = Id;

  edges(const graph::csr<Id>& rows) noexcept : rows_{&rows, &rows}, num_sets_(1) {}
  edges(const graph::csr<Id>& first, const graph::csr<Id>& second) noexcept
      : rows_{&first, &second}, num_sets_(2) {}

  [[nodiscard]] std::uint64_t first() const noexcept { return rows_[0]->first(); }
  [[nodiscard]] std::size_t num_rows() const noexcept { return rows_[0]->num_rows(); }
  [[nodiscard]] std::uint64_t num_edges() const noexcept {
    return rows_[0]->num_edges() + (num_sets_ == 2 ? rows_[1]->num_edges() : 0);
  }
  /// Edges of the first i own vertices.
  [[nodiscard]] std::uint64_t edges_before(std::size_t i) const noexcept {
    const auto before = [i](std::span<const std::uint64_t> at) { return at[i] - at[0]; };
    return before(rows_[0]->offsets()) + (num_sets_ == 2 ? before(rows_[1]->offsets()) : 0);
  }

  [[nodiscard]] std::uint64_t degree(std::uint64_t v) const noexcept {
    return rows_[0]->degree(v) + (num_sets_ == 2 ? rows_[1]->degree(v) : 0);
  }
  /// The largest degree of an own vertex. Called by worker 0 outside jobs.
  [[nodiscard]] std::uint64_t max_degree(world& w) const {
    if (num_sets_ == 1) return rows_[0]->max_degree();
    task::per_worker<std::uint64_t> max(w.workers());
    for_each_own(w, *rows_[0], [&](worker_t k, Id v) { max[k] = std::max(max[k], degree(v)); });
    return std::ranges::max(max, {}, [](const auto& m) { return m.value; }).value;
  }
  /// The mean degree of the listed vertices, estimated from a sample if there are more than 64.
  [[nodiscard]] double mean_degree(std::span<const Id> list) const noexcept {
    constexpr std::size_t sample = 64;
    const auto step = list.size() / sample + 1;
    std::uint64_t sum = 0, vertices = 0;
    for (std::size_t i = 0; i < list.size(); i += step, ++vertices) sum += degree(list[i]);
    return vertices == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(vertices);
  }

  /// Calls f(row) for each row of v.
  template <class F>
  [[gnu::always_inline]] void each_row_of(std::uint64_t v, F&& f) const {
    f(rows_[0]->neighbors(v));
    if (num_sets_ == 2) f(rows_[1]->neighbors(v));
  }
  /// Calls f(u) for each neighbor of v, once for each edge.
  template <class F>
  [[gnu::always_inline]] void each_neighbor(std::uint64_t v, F&& f) const {
    each_row_of(v, [&](std::span<const Id> row) {
      for (const Id u : row) f(u);
    });
  }

  /// Calls f(v, row) for each row of each vertex of a list, or of vertices [v, last): see rows.hpp.
  /// Returns the number of edges.
  template <class F>
  [[gnu::always_inline]] std::uint64_t each_row(std::span<const Id> list, F&& f) const {
    std::uint64_t visited = traverse::each_row(*rows_[0], list, counting(f));
    if (num_sets_ == 2) visited += traverse::each_row(*rows_[1], list, counting(f));
    return visited;
  }
  template <class F>
  [[gnu::always_inline]] std::uint64_t each_row(std::uint64_t v, std::uint64_t last, F&& f) const {
    std::uint64_t visited = traverse::each_row(*rows_[0], v, last, counting(f));
    if (num_sets_ == 2) visited += traverse::each_row(*rows_[1], v, last, counting(f));
    return visited;
  }

 private:
  template <class F>
  static auto counting(F& f) {
    return [&f](Id v, std::span<const Id> row) __attribute__((always_inline)) {
      f(v, row);
      return row.size();
    };
  }

  std::array<const graph::csr<Id>*, 2> rows_;
  int num_sets_;
};

/// The edges of each vertex in both directions. In a directed graph these are its out-edges and
/// in-edges.
///
/// Throws    contract_violation if the graph is directed and has no in-edges
template <class Id>
[[nodiscard]] edges<Id> edges_both_ways(const graph::dist_csr<Id>& g) {
  return g.directed() ? edges<Id>(g.out(), g.in()) : edges<Id>(g.out());
}

/// for_edge_ranges for the sum of a vertex's rows: first and last are vertices.
template <class Id, class F>
void for_edge_ranges(world& w, const edges<Id>& along, std::uint64_t longest, F&& f) {
  for_edge_ranges(
      w, along.num_rows(), along.num_edges(), longest,
      [&](std::size_t i) { return along.edges_before(i); },
      [&](worker_t k, std::size_t begin, std::size_t end) {
        f(k, along.first() + begin, along.first() + end);
      });
}

/// Calls f(worker, v) for each vertex of a list of own vertices. f visits all edges of v; they are
/// counted as obs::counter::edges.
template <class Id, class F>
void visit_all_edges(world& w, const edges<Id>& along, std::span<const Id> list, F&& f) {
  w.parallel_for(
      list.size(),
      [&](worker_t k, std::size_t begin, std::size_t end) {
        std::uint64_t visited = 0;
        for (const Id v : list.subspan(begin, end - begin)) {
          f(k, v);
          visited += along.degree(v);
        }
        w.counters().add(k, obs::counter::edges, visited);
      },
      chunk_of(w, list.size(), ns_of_row(along.mean_degree(list))));
}

}  // namespace cairn::traverse
