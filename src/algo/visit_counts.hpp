// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/worker_marks.hpp"

namespace cairn::algo {

/// How often walkers visit each vertex, counted by its owner.
///
/// If there are more steps than counts, each worker counts in a table of its own. Otherwise workers
/// share the counts: an atomic add waits for the cache misses in flight, which walkers overlap.
///
/// Memory    8 bytes per own vertex, or per own vertex and worker
/// Collective  constructor, destructor
template <class Id>
class visit_counts {
 public:
  /// steps     of all walkers, at most
  visit_counts(world& w, const graph::dist_csr<Id>& g, double steps)
      : w_(w),
        total_(w, g.partition(), 0),
        tables_(w, total_.local().size()),
        shared_(w.workers() > 1 && (w.handling_threads() > w.workers() ||
                                    static_cast<double>(g.num_vertices()) * w.workers() > steps)) {}

  /// The counts to which one worker adds.
  class counter {
   public:
    [[gnu::always_inline]] void prefetch(Id v) const { __builtin_prefetch(&count(v), 1); }
    [[gnu::always_inline]] void add(Id v) const {
      if (shared_) {
        tm::cell_ref<std::uint64_t, tm::atomic_access>(count(v)).add(1);
      } else {
        ++count(v);
      }
    }

   private:
    friend visit_counts;
    counter(std::uint64_t* first, std::uint64_t v, bool shared)
        : origin_(reinterpret_cast<std::uintptr_t>(first) - v * sizeof *first), shared_(shared) {}
    [[nodiscard]] std::uint64_t& count(Id v) const {
      return *reinterpret_cast<std::uint64_t*>(origin_ + std::uintptr_t{v} * sizeof(std::uint64_t));
    }

    std::uintptr_t origin_;  // where the count of vertex 0 would be
    bool shared_;
  };
  [[nodiscard]] counter of(worker_t k) {
    auto* const mine = shared_ || k == main_worker ? total_.local().data() : tables_[k];
    return {mine, total_.first(), shared_};
  }

  /// Tells the owners of vertices.
  [[nodiscard]] pgas::vertex_view<std::uint64_t> view() const noexcept { return total_.view(); }

  /// The counts of all workers. Called by worker 0, once, when none counts any more.
  [[nodiscard]] pgas::vertex_map<std::uint64_t> take() {
    for (worker_t k{1}; !shared_ && k < w_.workers(); ++k) {
      if (!tables_.used(k)) continue;
      const auto* const table = tables_[k];
      traverse::for_each_own(w_, total_, [&, first = total_.first()](worker_t, std::uint64_t v) {
        total_.local()[v - first] += table[v - first];
      });
    }
    return std::move(total_);
  }

 private:
  world& w_;
  pgas::vertex_map<std::uint64_t> total_;
  worker_marks<std::uint64_t> tables_;
  const bool shared_;
};

}  // namespace cairn::algo
