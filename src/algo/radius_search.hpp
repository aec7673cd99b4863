// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/shortest_paths.hpp"

namespace cairn::algo {

/// Distributed control on one or several ranks, in stages with growing search radii if that pays
/// off.
///
/// If a search expands fast, most edges are heavier than the remaining distance to the most distant
/// vertices. A stage skips edges that lead beyond its radius. After it, a vertex beyond the radius
/// takes the smallest distance along its in-edges from within. The last stage has no radius.
///
/// A sample of edges shows where edges begin, by the distances found so far. As these are too large
/// at first, the first stage looks at the sample repeatedly, and its radius may shrink.
///
/// Source    Chakaravarthy et al. (2014) for the pull; the radii are ours
template <class Id, class Distance>
class radius_search {
  using search = shortest_paths<Id, Distance>;
  using rows = typename search::edges;

 public:
  /// in        in-edges of a graph with weights, on one rank; nothing: no radius
  radius_search(search& s, const graph::dist_csr<Id>& g, const std::optional<rows>& in, Id source,
                double width)
      : s_(s), out_(g.out()), in_(in), width_(width) {
    if (!in_) return;
    source_degree_ = std::max(1.0, static_cast<double>(out_.degree(source)));
    draw_sample();
  }

  void run() {
    s_.work.run([&](worker_t k, auto entries, auto next) {
      if (const auto n = num_radii_.load(std::memory_order_acquire); n > 0) {
        s_.expand(k, entries, next, radii_[n - 1].range());
      } else {
        s_.expand(k, entries, next);
      }
      if (s_.counts[k].relaxations >= look_at_.load(std::memory_order_relaxed)) {
        look_at_sample(k, entries.front().distance);
      }
    });
    if (num_radii_ == 0) return;
    auto first = radii_[0], last = radii_[num_radii_ - 1];
    for (int stage = 1;; ++stage) {
      s_.gather();
      lower_beyond(last.last, first.last);
      const auto next = best_radius(main_worker, last.last + 1, std::nullopt);
      if (!next || stage == max_stages) break;
      s_.work.run([&](worker_t k, auto entries,
                      auto after) { s_.expand(k, entries, after, next->range()); },
                  next->last + 1);
      first = last = *next;
    }
    s_.work.run([&](worker_t k, auto entries, auto next) { s_.expand(k, entries, next); });
  }

 private:
  static constexpr double begun = 0.02;  // share of the edges, relaxed before the first look
  static constexpr int max_stages = 4;   // with a radius
  static constexpr std::uint64_t smallest_sample = 64, largest_sample = 1024;
  static constexpr std::uint64_t edges_per_sampled = 8192;
  static constexpr std::uint64_t relaxed_per_sampled = 200;  // so that looks take a few percent
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct radius {
    std::uint64_t last = 0;  // the last bucket within it
    // No target gets a distance above `limit`. Entries from `begin` on may be beyond the last
    // bucket: another worker may be processing one that the limit does not exclude.
    Distance limit{}, begin{};

    [[nodiscard]] auto range() const { return typename search::range{-1, limit, begin}; }
  };
  struct growth {
    std::uint64_t relaxed;  // edges so far; 0: not known
  };
  struct edge_begin {
    Distance distance;
    double degree;
  };

  [[nodiscard]] std::uint64_t workers() const { return static_cast<std::uint64_t>(s_.w.workers()); }

  void draw_sample() {
    const auto edges = out_.num_edges();
    if (edges == 0) return;
    const auto size = std::clamp(edges / edges_per_sampled, smallest_sample, largest_sample);
    random64 draw(edges);
    double sum = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto e = in_->edge_at(draw.below(edges));
      sample_.push_back(e.target);
      sum += static_cast<double>(e.weight);
    }
    heaviest_ = 2 * sum / static_cast<double>(size);
    if (!(heaviest_ > 0)) return;
    look_at_ = static_cast<std::uint64_t>(begun * static_cast<double>(edges)) / workers();
  }

  // Called at distance `now`. One worker at a time looks.
  void look_at_sample(worker_t k, Distance now) {
    if (looking_.exchange(true, std::memory_order_acquire)) return;
    const auto n = num_radii_.load(std::memory_order_relaxed);
    // Once there is a radius, the edges that it skips are not counted.
    const auto relaxed = n > 0 ? 0 : s_.counts[k].relaxations * workers();
    const auto r = best_radius(k, s_.work.bucket_of(now), growth{relaxed});
    if (r && (n == 0 || r->last < radii_[n - 1].last)) {
      radii_[n] = *r;
      num_radii_.store(n + 1, std::memory_order_release);
      s_.work.end_at(r->last + 1);
    }
    const auto at = look_at_.load(std::memory_order_relaxed);
    const auto further = std::max(at / 2, relaxed_per_sampled * sample_.size() / workers());
    look_at_.store(num_radii_ == radii_.size() ? never : at + further, std::memory_order_relaxed);
    looking_.store(false, std::memory_order_release);
  }

  // The radius by which the fewest edges will be visited from bucket `first` on, if these are
  // clearly fewer than without a radius. Of the edges of a vertex at distance d within radius r,
  // the share r - d of the heaviest weight is visited. Beyond r it is d by the pull, which costs as
  // much as `per_row` edges more, and `later` in later stages.
  //
  // by        if the distances are still too large
  [[nodiscard]] std::optional<radius> best_radius(worker_t k, std::uint64_t first,
                                                  std::optional<growth> by) {
    constexpr double per_row = 8, clearly = 0.8;
    const auto skip = in_->binned() ? 0 : 0.2;  // without bins, skipped edges are read
    const auto later = 0.3 + skip;
    const auto cost_beyond = [&](const edge_begin& e) {
      return std::min(1.0, static_cast<double>(e.distance) / heaviest_) + skip + per_row / e.degree;
    };
    found_.clear();
    double beyond = 0, within = 0;
    std::size_t settled = 0;
    for (const auto v : sample_) {
      const edge_begin e{s_.found(k, v), static_cast<double>(in_->degree(v)) + 1};
      if (e.distance != unreached<Distance> && s_.work.bucket_of(e.distance) < first) {
        ++settled;
      } else {
        found_.push_back(e);
      }
    }
    std::ranges::sort(found_, {}, &edge_begin::distance);
    if (by) lower_to_expected(*by, settled, static_cast<double>(first + 1) * width_);
    while (!found_.empty() && found_.back().distance == unreached<Distance>) {
      beyond += cost_beyond(found_.back());
      found_.pop_back();
    }
    for (const auto& e : found_) beyond += cost_beyond(e) + later;
    auto least = clearly * static_cast<double>(found_.size());
    std::optional<radius> best;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (i > 0) {
        const auto step = found_[i].distance - found_[i - 1].distance;
        within += static_cast<double>(i) * static_cast<double>(step) / heaviest_;
      }
      beyond -= cost_beyond(found_[i]) + later;
      within += skip;
      if (within + beyond >= least) continue;
      const auto r = radius_at(s_.work.bucket_of(found_[i].distance));
      if (!r) break;
      least = within + beyond;
      best = r;
    }
    return best;
  }

  // Lowers the distances of the sample to those to be expected at the end, if that many are reached
  // already that the others probably can be. The share of settled edges is modelled as a logistic
  // function of the distance, which has grown exponentially up to `now`. This holds for vertices
  // with many edges; the others are further by their lightest edge.
  void lower_to_expected(growth by, std::size_t settled, double now) {
    constexpr std::size_t enough = 8;
    constexpr double many = 0.4;
    constexpr double expected_lightest = 1.5;  // times the mean of as many weights
    const auto all = static_cast<double>(sample_.size());
    const auto edges = static_cast<double>(out_.num_edges());
    const auto share =
        std::max(static_cast<double>(settled) / all, static_cast<double>(by.relaxed) / edges);
    const auto exponent = std::log(share * edges / source_degree_);
    if (settled < enough || !(exponent > 1) || share > 0.5) return;
    const auto reached = std::ranges::find(found_, unreached<Distance>, &edge_begin::distance);
    if (static_cast<double>(settled) + static_cast<double>(reached - found_.begin()) < many * all) {
      return;
    }
    const auto log_odds = [](double x) { return std::log(x / (1 - x)); };
    for (std::size_t i = 0; i < found_.size(); ++i) {
      auto& e = found_[i];
      const auto share_then = (static_cast<double>(settled + i) + 0.5) / all;
      const auto later = std::max(0.0, log_odds(share_then) - log_odds(share)) / exponent;
      const auto expected = now * (1 + later) + expected_lightest * heaviest_ / e.degree;
      if (expected < static_cast<double>(e.distance)) e.distance = static_cast<Distance>(expected);
    }
    std::ranges::sort(found_, {}, &edge_begin::distance);
  }

  // Nothing if distances beyond it might not fit their type.
  [[nodiscard]] std::optional<radius> radius_at(std::uint64_t last) const {
    constexpr double rounding = 1e-9;
    const auto beyond = static_cast<double>(last + 1) * width_;
    const auto end = beyond * (1 + rounding) + rounding;
    if (!(end < static_cast<double>(s_.furthest))) return std::nullopt;
    return radius{last, static_cast<Distance>(std::is_integral_v<Distance> ? std::ceil(end) : end),
                  static_cast<Distance>(std::max(0.0, beyond * (1 - rounding) - rounding))};
  }

  // Lowers the distances beyond bucket `last` along edges that may have been skipped: those from
  // buckets up to `skipping`, because the radius was larger before.
  void lower_beyond(std::uint64_t last, std::uint64_t skipping) {
    traverse::for_each_own(
        s_.w, out_,
        [&](worker_t k, Id v) {
          const auto d = s_.distance.load(v);
          if (s_.work.bucket_of(d) > last) pull_distance(k, v, d, skipping);
        },
        20);
  }

  void pull_distance(worker_t k, Id v, const Distance before, std::uint64_t skipping) {
    auto best = before;
    std::uint64_t visited = 0;
    in_->each_edge_within(v, search::weight_within(before), [&](Id u, auto x) {
      const auto length = static_cast<Distance>(x);
      if (!(length < best)) return;
      ++visited;
      const auto d = s_.distance.load(u);
      if (s_.work.bucket_of(d) <= skipping)
        best = std::min(best, static_cast<Distance>(d + length));
    });
    s_.counts[k].relaxations += visited;
    s_.w.counters().add(k, obs::counter::edges, visited);
    if (best == before) return;
    s_.distance.store(v, best);
    s_.work.add(k, {v, best});
  }

  search& s_;
  const graph::csr<Id>& out_;
  const std::optional<rows>& in_;
  const double width_;
  double source_degree_ = 1;
  double heaviest_ = 0;     // twice the mean weight: weights are taken for equally distributed
  std::vector<Id> sample_;  // where random edges begin
  std::vector<edge_begin> found_;
  std::atomic<std::uint64_t> look_at_{never};  // relaxations of a worker that looks at the sample
  std::atomic<bool> looking_{false};
  std::array<radius, 12> radii_{};  // of the first stage, each smaller than the one before
  std::atomic<std::size_t> num_radii_{0};
};

}  // namespace cairn::algo
