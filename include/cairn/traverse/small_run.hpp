// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>

#include <cairn/activity/domain.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/one_worker.hpp>
#include <cairn/core/timed_choice.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::traverse {

/// Kinds of runs, which take different times per edge.
enum class run_kind : std::uint8_t { breadth_first, shortest_paths, page_ranks, components };

/// Chooses whether all workers share one run of an algorithm or worker 0 runs alone, and in which
/// of two ways a run is shared, if there are two: whichever was fastest in earlier runs. Worker 0
/// runs alone only in a small graph, on one rank, and if the mechanism is automatic. A single
/// worker shares its runs with nobody, but may have two ways, too.
///
/// Worker 0 constructs the object before the run's data and destroys it after them.
class small_run {
 public:
  /// two_ways  what was learned of runs that may be shared in two ways; nullptr: in one way
  /// like      runs with other values take other times
  template <class Id>
  small_run(world& w, const graph::dist_csr<Id>& g, const activity::options& opt, run_kind kind,
            timed_choice* two_ways = nullptr, std::uint64_t like = 0)
      : w_(w), choice_(two_ways ? *two_ways : w.sharing()), kind_(kind) {
    const auto edges = g.num_edges();
    const auto settings = activity::with_settings(w, opt);
    const bool automatic =
        settings.mechanism == activity::mechanism::automatic && settings.grain == 0;
    const bool small = w.size() == 1 && w.workers() > 1 && w.options().small_work_alone &&
                       automatic && edges <= max_edges(kind);
    if (!small && !two_ways) return;
    measured_ = true;
    const auto key = mix64(reinterpret_cast<std::uintptr_t>(&g) ^ mix64(edges) ^ mix64(like + 1)) +
                     4 * static_cast<std::uint64_t>(kind) + (small ? 2 : 0) + (two_ways ? 1 : 0);
    way_ = choice_.next(key, ways(small, edges, two_ways != nullptr));
    if (way_ == alone) alone_.emplace(w);
    if (w.workers() > 1 || alone_) {
      w.trace().note(main_worker, obs::trace_kind::choice,
                     way_ == alone ? "one worker runs alone" : "all workers share a run");
    }
    num_edges_ = edges;
    visited_before_ = visited();
    begin_ns_ = w.clock().now_ns();
  }
  ~small_run() {
    if (!measured_ || std::uncaught_exceptions() > exceptions_) return;
    const auto ns = static_cast<double>(w_.clock().now_ns() - begin_ns_);
    // PageRank and components process all edges, possibly more than once if the run is shared.
    // Searches from different sources do not, so their time is taken per reached vertex or, if that
    // is not reported, per visited edge. The latter favors a way that visits more edges.
    const bool whole_graph = kind_ == run_kind::page_ranks || kind_ == run_kind::components;
    const auto edges = whole_graph ? num_edges_ : visited() - visited_before_;
    if (edges < min_edges) return;  // fixed costs dominate
    const auto work = num_reached_ != 0 ? num_reached_ : edges;
    choice_.took(whole_graph ? ns : ns / static_cast<double>(work));
  }
  small_run(const small_run&) = delete;
  small_run& operator=(const small_run&) = delete;

  /// Whether worker 0 runs alone and others wait.
  [[nodiscard]] bool on_one_worker() const noexcept { return way_ == alone; }
  /// Whether workers share the run in the second of two ways.
  [[nodiscard]] bool second_way() const noexcept { return way_ == shared_otherwise; }
  /// What a search has done, in the same amount by each way.
  void reached(std::uint64_t vertices) noexcept { num_reached_ = vertices; }
  /// The run failed: its time is not reported.
  void forget() noexcept { measured_ = false; }

  /// Names of ways.
  static constexpr int alone = 0, shared = 1, shared_otherwise = 2;

 private:
  static std::span<const int> ways(bool small, std::uint64_t edges, bool two_ways) {
    static constexpr std::array from_shared{shared, alone, shared_otherwise};
    static constexpr std::array from_alone{alone, shared, shared_otherwise};
    static constexpr std::array never_alone{shared, shared_otherwise};
    if (!small) return never_alone;
    const std::span<const int> all = edges >= min_edges_to_begin_shared ? from_shared : from_alone;
    return all.first(two_ways ? 3 : 2);
  }
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
  timed_choice& choice_;
  const run_kind kind_;
  std::optional<one_worker> alone_;
  bool measured_ = false;
  int way_ = shared;
  int exceptions_ = std::uncaught_exceptions();
  std::uint64_t num_edges_ = 0, visited_before_ = 0, num_reached_ = 0, begin_ns_ = 0;
};

}  // namespace cairn::traverse
