// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <cairn/traverse/own.hpp>

#include "algo/shortest_paths.hpp"

namespace cairn::algo {

/// Distributed control on one or several ranks, with a search radius if it pays off.
///
/// If a search expands fast, most edges are heavier than the remaining distance to the most distant
/// vertices. The search is sampled once, after 2 % of all edges have been relaxed. If the queues
/// then contain at least a tenth of all vertices, the number of relaxed edges is modelled as a
/// logistic function of the distance, which has grown exponentially from the degree of the source.
/// The radius is the distance beyond which the model leaves 5 % of the edges. Within the radius,
/// edges that lead beyond it are skipped. Afterwards a vertex beyond the radius takes the smallest
/// distance along its in-edges from within.
///
/// Source    Chakaravarthy et al. (2014) for the pull; the radius is ours
template <class Id, class Distance>
class radius_search {
  using search = shortest_paths<Id, Distance>;
  using rows = typename search::edges;
  using entry = typename search::entry;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

 public:
  /// in        in-edges, on one rank; nothing: no radius
  radius_search(search& s, const graph::dist_csr<Id>& g, const std::optional<rows>& in, Id source,
                double width)
      : s_(s), out_(g.out()), in_(in), width_(width) {
    if (!in_) return;
    degree_ = static_cast<double>(std::max<std::uint64_t>(1, out_.degree(source)));
    due_ = static_cast<std::uint64_t>(begun * static_cast<double>(out_.num_edges())) + 1;
  }

  void run() {
    s_.work.run([&](worker_t k, auto entries, auto next) {
      if (last_.load(std::memory_order_acquire) != none) {
        s_.expand(k, entries, next, {-1, limit_, radius_});
        return;
      }
      s_.expand(k, entries, next);
      if (in_ && s_.counts[k].relaxations * workers() >= due_)
        choose_radius(k, entries.front().distance);
    });
    if (last_ == none) return;
    s_.gather();
    lower_beyond();
    s_.work.run([&](worker_t k, auto entries, auto next) { s_.expand(k, entries, next); });
  }

 private:
  static constexpr double begun = 0.02, left = 0.05;  // shares of all edges
  static constexpr std::uint64_t expands_fast = 10;   // at least one in 10 vertices is queued

  [[nodiscard]] std::uint64_t workers() const { return static_cast<std::uint64_t>(s_.w.workers()); }

  // Called at distance `now`. The first caller decides.
  void choose_radius(worker_t k, Distance now) {
    if (decided_.load(std::memory_order_relaxed) || decided_.exchange(true)) return;
    if (s_.work.size(k) * workers() * expands_fast < out_.num_nonempty_rows()) return;
    const auto growth = std::max(1.0, std::log(static_cast<double>(due_) / degree_));
    const auto radius = static_cast<double>(now) * (1 - std::log(begun * left) / growth);
    if (!(radius < static_cast<double>(s_.furthest) / 2)) return;
    const auto last = s_.work.bucket_of(static_cast<Distance>(radius));
    constexpr double rounding = 1e-9;
    const auto beyond = static_cast<double>(last + 1) * width_;
    const auto end = beyond * (1 + rounding) + rounding;
    if (!(end < static_cast<double>(s_.furthest))) return;
    limit_ = static_cast<Distance>(std::is_integral_v<Distance> ? std::ceil(end) : end);
    // Another worker may be processing an entry of the next bucket that the limit does not exclude.
    radius_ = static_cast<Distance>(std::max(0.0, beyond * (1 - rounding) - rounding));
    last_.store(last, std::memory_order_release);
    s_.work.end_at(last + 1);
  }

  // Lowers the distances beyond the radius along edges from within.
  void lower_beyond() {
    task::per_worker<std::uint64_t> beyond(s_.w.workers());
    traverse::for_each_own(s_.w, out_, [&](worker_t k, Id v) {
      if (!within(distance_of(v))) beyond[k] += in_->degree(v);
    });
    std::uint64_t edges = 0;
    for (const auto& k : beyond) edges += k.value;
    const bool pull = 2 * edges < out_.num_edges();
    traverse::for_each_own(
        s_.w, out_,
        [&](worker_t k, Id v) {
          const auto d = distance_of(v);
          if (pull && !within(d)) pull_distance(k, v, d);
          if (!pull && within(d)) s_.work.add(k, {v, d});  // will be expanded again
        },
        20);
  }

  void pull_distance(worker_t k, Id v, const Distance before) {
    auto best = before;
    std::uint64_t visited = 0;
    in_->each_edge_within(v, search::weight_within(before), [&](Id u, auto x) {
      ++visited;
      const auto d = distance_of(u);
      if (!within(d)) return;
      best = std::min(best, static_cast<Distance>(d + static_cast<Distance>(x)));
    });
    s_.counts[k].relaxations += visited;
    s_.w.counters().add(k, obs::counter::edges, visited);
    if (best == before) return;
    s_.distance.store(v, best);
    s_.work.add(k, {v, best});
  }

  [[nodiscard]] Distance distance_of(Id v) const { return s_.distance.load(v); }
  [[nodiscard]] bool within(Distance d) const {
    return s_.work.bucket_of(d) <= last_.load(std::memory_order_relaxed);
  }

  search& s_;
  const graph::csr<Id>& out_;
  const std::optional<rows>& in_;
  double width_, degree_ = 1;
  std::uint64_t due_ = 0;
  // No target gets a distance above limit_. Entries from radius_ on may be beyond the last bucket.
  Distance limit_ = 0, radius_ = 0;
  std::atomic<bool> decided_{false};
  std::atomic<std::uint64_t> last_{none};  // the last bucket within the radius
};

}  // namespace cairn::algo
