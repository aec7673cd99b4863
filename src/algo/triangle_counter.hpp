// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <cairn/am/epoch.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/accumulator_map.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>

#include "algo/triangle_count.hpp"
#include "algo/worker_marks.hpp"

namespace cairn::algo {

/// A bit per vertex of the graph for each worker.
class bit_marks : public worker_marks<std::uint64_t> {
 public:
  bit_marks(world& w, std::uint64_t num_vertices) : worker_marks(w, num_vertices / 64 + 1) {}
};

/// Sums of what workers find: triangles, and counts per vertex.
template <class Id>
class triangle_counter {
 public:
  triangle_counter(world& w, const graph::dist_csr<Id>& g, bool per_vertex)
      : w_(w), g_(g), found_(w.workers()) {
    if (per_vertex) per_vertex_.emplace(w, g.partition());
  }

  /// Whether add() may send messages.
  [[nodiscard]] bool sends() const noexcept { return per_vertex_ && per_vertex_->sends(); }

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

  /// Whether a worker of this rank has seen an entry twice in a row.
  [[nodiscard]] bool repeated() {
    return std::any_of(found_.begin(), found_.end(),
                       [](const auto& f) { return f.value.repeated; });
  }

  /// The triangles that all ranks have found. Collective.
  [[nodiscard]] std::uint64_t total() {
    std::uint64_t mine = 0;
    for (const auto& f : found_) mine += f.value.triangles;
    return w_.sum(mine);
  }

  /// The counts of each vertex; requires per_vertex. Collective.
  [[nodiscard]] pgas::vertex_map<std::uint64_t> of_vertex() {
    pgas::vertex_map<std::uint64_t> counts(w_, g_.partition(), 0);
    per_vertex_->collect([&](worker_t, std::uint64_t first, std::span<const std::uint64_t> totals) {
      std::ranges::copy(totals, counts.local().subspan(first - counts.first()).begin());
    });
    return counts;
  }

 private:
  world& w_;
  const graph::dist_csr<Id>& g_;
  std::optional<pgas::accumulator_map<cairn::add<std::uint64_t>, Id>> per_vertex_;
  task::per_worker<triangle_count> found_;
};

}  // namespace cairn::algo
