// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <cairn/activity/domain.hpp>
#include <cairn/core/one_worker.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::traverse {

/// Runs that take different times for an edge.
enum class run_kind : std::uint8_t { breadth_first, shortest_paths, page_ranks };

/// One run of an algorithm on a graph: if the graph is small, the rank's workers share the run, or
/// worker 0 does it alone, whichever was faster in earlier runs of this world. On one rank, and if
/// the mechanism is automatic. Constructed before the run's data and destroyed after it, by worker
/// 0.
class small_run {
 public:
  template <class Id>
  small_run(world& w, const graph::dist_csr<Id>& g, const activity::options& opt, run_kind of)
      : w_(w), of_(of) {
    const auto edges = g.num_edges();
    const auto asked = activity::with_settings(w, opt);
    const bool free = asked.mechanism == activity::mechanism::automatic && asked.grain == 0;
    if (w.size() > 1 || w.workers() == 1 || !w.options().small_work_alone || !free ||
        edges > most_edges(of)) {
      return;
    }
    measured_ = true;
    const auto kind =
        (reinterpret_cast<std::uintptr_t>(&g) ^ edges << 20) + static_cast<std::uint64_t>(of);
    shared_ = w.sharing().next(kind, edges >= shared_at_first);
    if (!shared_) alone_.emplace(w);
    w.trace().note(main_worker, obs::trace_kind::choice,
                   shared_ ? "all workers share a run" : "one worker runs alone");
    edges_ = visited();
    begin_ns_ = w.clock().now_ns();
  }
  ~small_run() {
    if (!measured_) return;
    const auto edges = visited() - edges_;
    if (edges < least_work) return;  // all fixed costs
    const auto ns = static_cast<double>(w_.clock().now_ns() - begin_ns_);
    // Searches from other sources visit other numbers of edges. Ranks always need the same ones,
    // but workers that share them may need more sweeps.
    w_.sharing().took(shared_, of_ == run_kind::page_ranks ? ns : ns / static_cast<double>(edges));
  }
  small_run(const small_run&) = delete;
  small_run& operator=(const small_run&) = delete;

 private:
  // of which a run takes some milliseconds
  static constexpr std::uint64_t most_edges(run_kind of) {
    return of == run_kind::page_ranks ? 1 << 18 : 1 << 21;
  }
  static constexpr std::uint64_t shared_at_first = 100'000, least_work = 1'000;

  [[nodiscard]] std::uint64_t visited() const { return w_.counters().total(obs::counter::edges); }

  world& w_;
  const run_kind of_;
  std::optional<one_worker> alone_;
  bool measured_ = false, shared_ = false;
  std::uint64_t edges_ = 0, begin_ns_ = 0;
};

}  // namespace cairn::traverse
