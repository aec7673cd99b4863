// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <cairn/algo/triangles.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/pgas/accumulator_map.hpp>

#include "algo/triangle_choice.hpp"
#include "algo/triangle_marks.hpp"
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

  // Counts per vertex are added while an epoch is open.
  template <class F>
  void within_epoch(F&& count) {
    am::epoch epoch(w_);
    count();
    epoch.close();
  }

  void in_natural_order() {
    const auto& rows = g_.out();
    for_edge_ranges(
        w_, rows.num_rows(), rows.num_edges(), rows.max_degree(),
        [at = rows.offsets()](std::size_t i) { return at[i] - at[0]; },
        [&](worker_t k, std::size_t first, std::size_t last) {
          add(k, [&](auto&& tell) { return count_in_natural_order(rows, first, last, tell); });
        });
  }

  void by_marks(const oriented_rows<Id>& rows) {
    rows.for_ranges(w_, [&](worker_t k, std::size_t first, std::size_t last) {
      add(k, [&](auto&& tell) { return count_by_marks(rows, first, last, marks(k), tell); });
    });
  }

  void by_matrix(const oriented_rows<Id>& rows, triangle_matrix<Id>& matrix) {
    rows.for_ranges(w_, [&](worker_t k, std::size_t first, std::size_t last) {
      add(k, [&](auto&& tell) { return matrix.count(k, first, last, marks(k), tell); });
    });
  }

  // On several ranks.
  void by_visits(const oriented_rows<Id>& rows) {
    using list = std::span<const Id>;
    rows.visit(w_, g_.partition(), [&](worker_t k, Id v, list row, list here) {
      add(k, [&](auto&& tell) { return count_at(rows, v, row, here, marks(k), tell); });
    });
  }

  [[nodiscard]] triangles_result result(triangle_choice choice) {
    std::uint64_t mine = 0;
    for (const auto& f : found_) mine += f.value.triangles;
    triangles_result r{w_.sum(mine),
                       std::nullopt,
                       choice.mode,
                       {activity::mechanism::plain, 1, std::move(choice.why)}};
    if (!per_vertex_) return r;
    r.of_vertex.emplace(w_, g_.partition(), 0);
    const auto to = r.of_vertex->local();
    per_vertex_->collect([&](worker_t, std::uint64_t first, std::span<const std::uint64_t> totals) {
      std::copy(totals.begin(), totals.end(),
                to.begin() + static_cast<std::ptrdiff_t>(first - r.of_vertex->first()));
    });
    return r;
  }

 private:
  template <class F>
  void add(worker_t k, F&& count) {
    triangle_count all;
    if (per_vertex_) {
      per_vertex_->accumulate(k, [&](auto&& tell) { all = count(tell); });
    } else {
      all = count(untold{});
    }
    found_[k] += all;
    w_.counters().add(k, obs::counter::edges, all.looked_at);
  }

  std::uint64_t* marks(worker_t k) {
    auto& bits = marks_[k];
    if (bits.empty()) {
      bits = hw::page_buffer<std::uint64_t>(g_.num_vertices() / 64 + 1, w_.memory());
      std::fill(bits.begin(), bits.end(), 0);
    }
    return bits.data();
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  std::optional<pgas::accumulator_map<cairn::add<std::uint64_t>, Id>> per_vertex_;
  task::per_worker<triangle_count> found_;
  task::per_worker<hw::page_buffer<std::uint64_t>> marks_;  // a bit per vertex
};

}  // namespace

template <class Id>
triangles_result triangles(world& w, const graph::dist_csr<Id>& g, const triangles_options& opt) {
  CAIRN_EXPECTS(g.has_in(), "an edge counts both ways: load with .inverse = true");
  expect_possible(w.size(), g.directed(), opt.mode);
  auto choice = choose_by_rows(w, g, opt.mode);
  triangle_counter<Id> counter(w, g, opt);
  if (choice.mode == triangles_mode::natural) {
    counter.within_epoch([&] { counter.in_natural_order(); });
    return counter.result(std::move(choice));
  }
  const oriented_rows<Id> rows(w, g);
  if (w.size() > 1) {
    counter.by_visits(rows);
  } else if (auto matrix = choose_by_kept_rows(w, rows, choice)) {
    counter.within_epoch([&] { counter.by_matrix(rows, *matrix); });
  } else {
    counter.within_epoch([&] { counter.by_marks(rows); });
  }
  return counter.result(std::move(choice));
}

template triangles_result triangles(world&, const graph::dist_csr<std::uint32_t>&,
                                    const triangles_options&);
template triangles_result triangles(world&, const graph::dist_csr<std::uint64_t>&,
                                    const triangles_options&);

}  // namespace cairn::algo
