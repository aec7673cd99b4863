// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <cairn/algo/triangles.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/pgas/accumulator_map.hpp>

#include "algo/triangle_matrix.hpp"

namespace cairn::algo {
namespace {

template <class Id>
class triangle_counter {
 public:
  triangle_counter(world& w, const graph::dist_csr<Id>& g, const triangles_options& opt)
      : w_(w), g_(g), found_(w.workers()), marks_(w.workers()) {
    if (opt.per_vertex) per_vertex_.emplace(w, g.partition());
  }

  /// Calls count(count_for) on worker k and adds its result and its counts per vertex.
  template <class F>
  void add(worker_t k, F&& count) {
    triangle_count all;
    no_counts ignored;
    if (per_vertex_) {
      per_vertex_->accumulate(k, [&](auto&& count_for) { all = count(count_for); });
    } else {
      all = count(ignored);
    }
    found_[k] += all;
    w_.counters().add(k, obs::counter::edges, all.looked_at);
  }

  /// Calls count(worker, first, last, count_for) for the ranges of rows that for_ranges passes.
  template <class ForRanges, class Count>
  void by_ranges(ForRanges&& for_ranges, Count&& count) {
    am::epoch epoch(w_);  // for the counts per vertex
    for_ranges([&](worker_t k, std::size_t first, std::size_t last) {
      add(k, [&](auto&& count_for) { return count(k, first, last, count_for); });
    });
    epoch.close();
  }

  /// Worker k's marks, a bit per vertex.
  std::uint64_t* marks(worker_t k) {
    auto& bits = marks_[k];
    if (bits.empty()) {
      bits = hw::page_buffer<std::uint64_t>(g_.num_vertices() / 64 + 1, w_.memory());
      std::fill(bits.begin(), bits.end(), 0);
    }
    return bits.data();
  }

  [[nodiscard]] triangles_result result(triangle_choice choice) {
    std::uint64_t mine = 0;
    for (const auto& f : found_) mine += f.value.triangles;
    activity::ran ran{activity::mechanism::plain, 1, std::move(choice.why)};
    triangles_result r{w_.sum(mine), std::nullopt, choice.mode, std::move(ran)};
    if (!per_vertex_) return r;
    r.of_vertex.emplace(w_, g_.partition(), 0);
    per_vertex_->collect([&](worker_t, std::uint64_t first, std::span<const std::uint64_t> totals) {
      std::ranges::copy(totals, r.of_vertex->local().subspan(first - r.of_vertex->first()).begin());
    });
    return r;
  }

 private:
  world& w_;
  const graph::dist_csr<Id>& g_;
  std::optional<pgas::accumulator_map<cairn::add<std::uint64_t>, Id>> per_vertex_;
  task::per_worker<triangle_count> found_;
  task::per_worker<hw::page_buffer<std::uint64_t>> marks_;
};

}  // namespace

template <class Id>
triangles_result triangles(world& w, const graph::dist_csr<Id>& g, const triangles_options& opt) {
  CAIRN_EXPECTS(g.has_in(), "in-edges are needed: load the graph with .inverse = true");
  expect_possible(w.size(), g.directed(), opt.mode);
  auto choice = choose_by_rows(w, g, opt.mode);
  triangle_counter<Id> counter(w, g, opt);
  if (choice.mode == triangles_mode::natural) {
    const auto& all = g.out();
    counter.by_ranges([&](auto&& f) { for_edge_ranges(w, all, f); },
                      [&](worker_t, std::size_t first, std::size_t last, auto& count_for) {
                        return count_in_natural_order(all, first, last, count_for);
                      });
    return counter.result(std::move(choice));
  }
  const oriented_rows<Id> rows(w, g);
  if (w.size() > 1) {
    rows.visit(w, g.partition(), [&](worker_t k, Id v, auto row, auto here) {
      counter.add(k, [&](auto& count_for) {
        return count_at(rows, v, row, here, counter.marks(k), count_for);
      });
    });
  } else {
    auto matrix = choose_by_kept_rows(w, rows, choice);
    counter.by_ranges([&](auto&& f) { rows.for_ranges(w, f); },
                      [&](worker_t k, std::size_t first, std::size_t last, auto& count_for) {
                        auto* const marks = counter.marks(k);
                        return matrix ? matrix->count(k, first, last, marks, count_for)
                                      : count_by_marks(rows, first, last, marks, count_for);
                      });
  }
  return counter.result(std::move(choice));
}

template triangles_result triangles(world&, const graph::dist_csr<std::uint32_t>&,
                                    const triangles_options&);
template triangles_result triangles(world&, const graph::dist_csr<std::uint64_t>&,
                                    const triangles_options&);

}  // namespace cairn::algo
