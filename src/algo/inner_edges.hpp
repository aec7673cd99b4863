// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include "algo/oriented_rows.hpp"
#include "algo/triangle_counter.hpp"

namespace cairn::algo {

[[nodiscard]] inline std::uint64_t bit_at(const std::uint64_t* bits, std::uint64_t v) {
  return bits[v / 64] >> (v % 64) & 1;
}

/// Counts, for each vertex of a directed graph, the edges between its neighbors.
///
/// Collective  constructor, of_vertex()
template <class Id>
class inner_edges {
 public:
  inner_edges(world& w, const graph::dist_csr<Id>& g)
      : joined_(w, g),
        both_(w, g, kept_pairs::joined_both_ways),
        counter_(w, g, true),
        marks_(w, g.num_vertices()),
        both_marks_(w, g.num_vertices()) {
    if (w.size() > 1) {
      joined_.visit(
          w, g.partition(), [](Id) { return true; },
          [&](worker_t k, auto visits) {
            counter_.add(k, [&](auto& count_for) {
              triangle_count all;
              for (const auto& x : visits) all += at(k, x.v, x.row, x.local, x.part, count_for);
              return all;
            });
          },
          {.sends = counter_.sends()}, &both_);
      return;
    }
    counter_.by_ranges([&](auto&& f) { joined_.for_ranges(w, f); },
                       [&](worker_t k, std::size_t v, std::size_t last, auto& count_for) {
                         triangle_count all;
                         for (; v < last; ++v) {
                           const auto row = joined_.row(v);
                           if (row.size() < 2) continue;
                           all += at(k, static_cast<Id>(v), row, row, both_.row(v), count_for);
                         }
                         return all;
                       });
  }

  [[nodiscard]] pgas::vertex_map<std::uint64_t> of_vertex() { return counter_.of_vertex(); }

 private:
  // The triangles whose first vertex is v and whose second vertex is in `local`. Each of the three
  // vertices gets the number of edges between the other two: 2 if edges join them in both
  // directions, else 1.
  //
  // local   the part of v's row that this rank owns
  // both    the part of v's row that is joined to v in both directions
  template <class CountFor>
  [[gnu::always_inline]] triangle_count at(worker_t k, Id v, std::span<const Id> row,
                                           std::span<const Id> local, std::span<const Id> both,
                                           CountFor& count_for) {
    auto* const marks = marks_[k];
    auto* const both_marks = both_marks_[k];
    mark(row, marks);
    mark(both, both_marks);
    triangle_count all;
    std::uint64_t of_v = 0;
    for (const Id& u : local) prefetch_ahead(joined_, &u);
    for (const Id u : local) {
      const auto of_third = 1 + bit_at(both_marks, u);
      std::uint64_t of_u = 0;
      const auto thirds = joined_.row(u - joined_.first());
      const auto both_of_u = both_.row(u - joined_.first());
      for (const Id x : thirds) {
        const auto joined = bit_at(marks, x);
        of_v += joined;
        of_u += joined + bit_at(both_marks, x);
        if constexpr (counts_per_vertex<CountFor>) {
          if (joined != 0) count_for(x, of_third);
        }
      }
      for (const Id x : both_of_u) of_v += bit_at(marks, x);
      if (of_u != 0) count_for(u, of_u);
      all += {0, thirds.size() + both_of_u.size()};
    }
    unmark(row, marks);
    unmark(both, both_marks);
    if (of_v != 0) count_for(v, of_v);
    return all;
  }

  const oriented_rows<Id> joined_, both_;
  triangle_counter<Id> counter_;
  bit_marks marks_, both_marks_;
};

}  // namespace cairn::algo
