// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/rows.hpp>

#include "algo/sort.hpp"

namespace cairn::algo {

/// The integer weight of an edge, 1 without weights.
template <class Id>
[[nodiscard]] std::int64_t capacity_at(const graph::csr<Id>& rows, std::uint64_t v, std::size_t i) {
  return rows.weighted() ? rows.template edges_of<std::int32_t>(v)[i].weight : 1;
}

/// An edge or its reverse, at one of its endpoints, with the capacities in both directions.
template <class Id>
struct residual_arc {
  Id target;
  std::int64_t capacity, reverse_capacity;
  std::uint64_t mirror = 0;  ///< id of the same arc at its target
};

/// The distinct neighbors of this rank's vertices in either direction, without self-loops. Arcs
/// are numbered through the ranks' rows as in an edge_map.
///
/// Collective  constructor
template <class Id>
struct residual_graph {
  residual_graph(world& w, const graph::dist_csr<Id>& g) : first(g.out().first()) {
    collect(w, g);
    number(w, g);
  }

  [[nodiscard]] std::uint64_t begin(std::uint64_t v) const { return offsets[v - first]; }
  [[nodiscard]] std::uint64_t end(std::uint64_t v) const { return offsets[v - first + 1]; }
  /// Approximate mean time of a loop over the arcs of a vertex.
  [[nodiscard]] double ns_of_row() const {
    const auto n = std::max<std::size_t>(1, offsets.size() - 1);
    return 50 + 5 * static_cast<double>(arcs.size()) / static_cast<double>(n);
  }
  /// Index in `arcs` of the arc v -> u, which must exist.
  [[nodiscard]] std::uint64_t find(std::uint64_t v, Id u) const {
    const auto at =
        std::lower_bound(arcs.begin() + static_cast<std::ptrdiff_t>(begin(v)),
                         arcs.begin() + static_cast<std::ptrdiff_t>(end(v)), u,
                         [](const residual_arc<Id>& a, Id target) { return a.target < target; });
    return static_cast<std::uint64_t>(at - arcs.begin());
  }

  std::uint64_t first;                 // first vertex of this rank
  std::uint64_t first_arc = 0;         // id of arcs[0]
  std::vector<std::uint64_t> offsets;  // rows of this rank's vertices in arcs
  std::vector<residual_arc<Id>> arcs;

 private:
  struct half {
    Id source, target;
    std::int64_t capacity, reverse_capacity;
  };

  // In an undirected graph a row also gives the reverse capacity; in a directed one the other
  // endpoint sends it.
  void collect(world& w, const graph::dist_csr<Id>& g) {
    const auto halves = g.directed() ? halves_of(w, g) : std::vector<half>();
    offsets.reserve(g.out().num_rows() + 1);
    arcs.reserve(g.directed() ? num_distinct(w, halves) : g.out().num_edges());
    auto at = halves.begin();
    offsets.push_back(0);
    for (auto v = first; v < g.out().last(); ++v) {
      for (; at != halves.end() && at->source == v; ++at)
        append(at->target, at->capacity, at->reverse_capacity);
      const auto row = g.out().neighbors(v);
      for (std::size_t i = 0; !g.directed() && i < row.size(); ++i) {
        const auto c = capacity_at(g.out(), v, i);
        if (row[i] != v) append(row[i], c, c);
      }
      offsets.push_back(arcs.size());
      if (offsets.size() % 4096 == 0) w.pool().throw_if_interrupted();
    }
  }

  // Appends to the current row, in ascending order of targets.
  void append(Id target, std::int64_t capacity, std::int64_t reverse_capacity) {
    if (arcs.size() == offsets.back() || arcs.back().target != target) {
      arcs.push_back({target, 0, 0});
    }
    arcs.back().capacity += capacity;
    arcs.back().reverse_capacity += reverse_capacity;
  }

  static std::vector<half> halves_of(world& w, const graph::dist_csr<Id>& g) {
    task::per_worker<std::vector<half>> found(w.workers());
    am::channel<half> halves(w, [&](worker_t k, std::span<const half> batch) {
      found[k].insert(found[k].end(), batch.begin(), batch.end());
    });
    const auto& out = g.out();
    traverse::push_ranges(
        w, halves, out.num_rows(),
        [&](auto& send, worker_t k, std::size_t from, std::size_t to) {
          return traverse::each_row(out, out.first() + from, out.first() + to,
                                    [&](Id v, std::span<const Id> row) {
                                      for (std::size_t j = 0; j < row.size(); ++j) {
                                        if (row[j] == v) continue;
                                        const auto c = capacity_at(out, v, j);
                                        found[k].push_back({v, row[j], c, 0});
                                        send(g.partition().owner(row[j]), {row[j], v, 0, c});
                                      }
                                      return row.size();
                                    });
        },
        chunk(w, out.num_rows()));
    std::vector<half> all;
    for (auto& f : found) {
      append_interruptibly(w, all, f.value);
      f.value = {};
    }
    sort_interruptibly(w, all, [](const half& a, const half& b) {
      return std::tie(a.source, a.target) < std::tie(b.source, b.target);
    });
    return all;
  }

  // The number of arcs that sorted halves make.
  static std::size_t num_distinct(world& w, const std::vector<half>& sorted) {
    std::size_t n = 0;
    in_pieces(w, sorted.size(), [&](std::size_t i, std::size_t last) {
      for (; i < last; ++i) {
        n += i == 0 || sorted[i].source != sorted[i - 1].source ||
             sorted[i].target != sorted[i - 1].target;
      }
    });
    return n;
  }

  // Each arc sends its id to the same arc at the other endpoint.
  void number(world& w, const graph::dist_csr<Id>& g) {
    const auto counts = w.all_gather(std::uint64_t{arcs.size()});
    for (rank_t r = 0; r < w.rank(); ++r) first_arc += counts[static_cast<std::size_t>(r)];
    struct name {
      Id source, target;
      std::uint64_t id;
    };
    am::channel<name> names(w, [&](worker_t, std::span<const name> batch) {
      for (const auto& m : batch) arcs[find(m.target, m.source)].mirror = m.id;
    });
    const auto rows = offsets.size() - 1;
    traverse::push_ranges(
        w, names, rows,
        [&](auto& send, worker_t, std::size_t from, std::size_t to) {
          for (auto v = static_cast<Id>(first + from); v < first + to; ++v) {
            for (auto i = begin(v); i < end(v); ++i) {
              send(g.partition().owner(arcs[i].target), {v, arcs[i].target, first_arc + i});
            }
          }
          return std::uint64_t{0};
        },
        chunk(w, rows));
  }

  static std::size_t chunk(const world& w, std::size_t rows) {
    constexpr double ns_of_vertex = 500;  // several arcs, each a message
    return traverse::chunk_of(w, rows, ns_of_vertex);
  }
};

}  // namespace cairn::algo
