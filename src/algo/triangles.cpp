// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <cairn/algo/triangles.hpp>

#include "algo/natural_triangles.hpp"
#include "algo/triangle_counter.hpp"
#include "algo/triangle_matrix.hpp"

namespace cairn::algo {
namespace {

// Counts along the input rows.
template <class Id>
void count_naturally(world& w, const graph::dist_csr<Id>& g, edges_are edges,
                     triangle_counter<Id>& counter) {
  constexpr std::uint64_t most_steps = 256;  // assumed per edge; few edges take more
  const auto& rows = g.out();
  worker_marks<std::uint8_t> marks(w, g.num_vertices());
  counter.by_ranges(
      [&](auto&& f) {
        traverse::for_edge_ranges(w, rows, std::min(rows.max_degree(), most_steps), f);
      },
      [&](worker_t k, std::size_t first, std::size_t last, auto& count_for) {
        return edges == edges_are::distinct ? count_in_natural_order<edges_are::distinct>(
                                                  rows, first, last, marks[k], count_for)
                                            : count_in_natural_order<edges_are::repeated>(
                                                  rows, first, last, marks[k], count_for);
      });
}

}  // namespace

template <class Id>
triangles_result triangles(world& w, const graph::dist_csr<Id>& g, const triangles_options& opt) {
  g.expect_in();
  expect_possible(w.size(), g.directed(), opt.mode);
  auto choice = choose_by_rows(w, g, opt);
  const auto result_of = [&](triangle_counter<Id>& counter) {
    return triangles_result{counter.total(),
                            opt.per_vertex ? std::optional(counter.of_vertex()) : std::nullopt,
                            choice.mode,
                            {activity::mechanism::plain, 1, choice.why}};
  };
  while (choice.mode == triangles_mode::natural) {
    triangle_counter<Id> counter(w, g, opt.per_vertex);
    count_naturally(w, g, choice.edges, counter);
    if (!counter.repeated()) return result_of(counter);
    choice.edges = edges_are::repeated;
  }
  triangle_counter<Id> counter(w, g, opt.per_vertex);
  bit_marks marks(w, g.num_vertices());
  const oriented_rows<Id> rows(w, g);
  auto matrix = choose_by_kept_rows(w, rows, g.num_vertices(), choice);
  if (matrix || w.size() == 1) {
    counter.by_ranges([&](auto&& f) { rows.for_ranges(w, f); },
                      [&](worker_t k, std::size_t first, std::size_t last, auto& count_for) {
                        return matrix ? matrix->count(k, first, last, marks[k], count_for)
                                      : count_by_marks(rows, first, last, marks[k], count_for);
                      });
  }
  if (w.size() > 1) {
    rows.visit(
        w, g.partition(), [&](Id u) { return !matrix || !matrix->has(u); },
        [&](worker_t k, auto visits) {
          counter.add(k, [&](auto& count_for) {
            return count_by_marks(rows, visits, marks[k], count_for);
          });
        },
        {.sends = counter.sends()});
  }
  return result_of(counter);
}

template triangles_result triangles(world&, const graph::dist_csr<std::uint32_t>&,
                                    const triangles_options&);
template triangles_result triangles(world&, const graph::dist_csr<std::uint64_t>&,
                                    const triangles_options&);

}  // namespace cairn::algo
