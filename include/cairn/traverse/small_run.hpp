// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include <cairn/activity/domain.hpp>
#include <cairn/core/one_worker.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::traverse {

/// Kinds of runs, which take different times per edge.
enum class run_kind : std::uint8_t { breadth_first, shortest_paths, page_ranks, components };

/// Chooses whether all workers share one run of an algorithm or worker 0 runs alone, whichever was
/// faster in earlier runs of this world. It chooses only for small graphs, on one rank, and if the
/// mechanism is automatic; otherwise all workers share the run.
///
/// Worker 0 constructs the object before the run's data and destroys it after them.
class small_run {
 public:
  template <class Id>
  small_run(world& w, const graph::dist_csr<Id>& g, const activity::options& opt, run_kind kind)
      : w_(w), kind_(kind) {
    const auto edges = g.num_edges();
    const auto settings = activity::with_settings(w, opt);
    const bool automatic =
        settings.mechanism == activity::mechanism::automatic && settings.grain == 0;
    if (w.size() > 1 || w.workers() == 1 || !w.options().small_work_alone || !automatic ||
        edges > max_edges(kind)) {
      return;
    }
    measured_ = true;
    const auto key =
        (reinterpret_cast<std::uintptr_t>(&g) ^ edges << 20) + static_cast<std::uint64_t>(kind);
    shared_ = w.sharing().next(key, edges >= min_edges_to_begin_shared);
    if (!shared_) alone_.emplace(w);
    w.trace().note(main_worker, obs::trace_kind::choice,
                   shared_ ? "all workers share a run" : "one worker runs alone");
    num_edges_ = edges;
    visited_before_ = visited();
    begin_ns_ = w.clock().now_ns();
  }
  ~small_run() {
    if (!measured_ || std::uncaught_exceptions() > exceptions_) return;
    const auto ns = static_cast<double>(w_.clock().now_ns() - begin_ns_);
    // PageRank and components process all edges, possibly more than once if the run is shared.
    // Searches from different sources visit different numbers of edges, so their time is taken per
    // edge.
    const bool whole_graph = kind_ == run_kind::page_ranks || kind_ == run_kind::components;
    const auto edges = whole_graph ? num_edges_ : visited() - visited_before_;
    if (edges < min_edges) return;  // fixed costs dominate
    w_.sharing().took(shared_, whole_graph ? ns : ns / static_cast<double>(edges));
  }
  small_run(const small_run&) = delete;
  small_run& operator=(const small_run&) = delete;

 private:
  // A run with more edges takes more than a few milliseconds.
  static constexpr std::uint64_t max_edges(run_kind kind) {
    switch (kind) {
      case run_kind::page_ranks:
        return 1 << 18;
      case run_kind::components:
        return 1 << 20;
      case run_kind::breadth_first:
      case run_kind::shortest_paths:
        break;
    }
    return 1 << 21;
  }
  static constexpr std::uint64_t min_edges_to_begin_shared = 100'000, min_edges = 1'000;

  [[nodiscard]] std::uint64_t visited() const { return w_.counters().total(obs::counter::edges); }

  world& w_;
  const run_kind kind_;
  std::optional<one_worker> alone_;
  bool measured_ = false, shared_ = false;
  int exceptions_ = std::uncaught_exceptions();
  std::uint64_t num_edges_ = 0, visited_before_ = 0, begin_ns_ = 0;
};

}  // namespace cairn::traverse
