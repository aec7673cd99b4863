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
/// The radius is chosen from the distances of the sources of randomly sampled edges. These are
/// upper bounds at first. Therefore the first stage evaluates the sample repeatedly, and its radius
/// may shrink.
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
    s_.work.run([&](worker_t k, auto& batch) {
      const auto now = batch.entries().front().distance;
      if (const auto n = num_radii_.load(std::memory_order_acquire); n > 0) {
        s_.expand(k, batch, radii_[n - 1].range());
      } else {
        s_.expand(k, batch);
      }
      if (s_.counts[k].relaxations >= look_at_.load(std::memory_order_relaxed)) {
        look_at_sample(k, now);
      }
    });
    if (num_radii_ == 0) return;
    auto first = radii_[0], last = radii_[num_radii_ - 1];
    for (int stage = 1;; ++stage) {
      s_.gather();
      lower_beyond(last.last, first.last);
      const auto next = best_radius(main_worker, last.last + 1, std::nullopt);
      if (!next || stage == max_stages) break;
      s_.work.run([&](worker_t k, auto& batch) { s_.expand(k, batch, next->range()); },
                  next->last + 1);
      first = last = *next;
    }
    s_.work.run([&](worker_t k, auto& batch) { s_.expand(k, batch); });
  }

 private:
  static constexpr double begun = 0.02;  // share of the edges, relaxed before the first look
  static constexpr int max_stages = 4;   // with a radius
  static constexpr std::uint64_t smallest_sample = 64, largest_sample = 1024;
  static constexpr std::uint64_t edges_per_sampled = 8192;
  static constexpr std::uint64_t relaxed_per_sampled = 200;  // bounds the time of looks
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct radius {
    std::uint64_t last = 0;  // the last bucket within it
    // No target gets a distance above `limit`. Entries from `begin` on may be beyond the last
    // bucket: another worker may be processing one that the limit does not exclude.
    Distance limit{}, begin{};

    [[nodiscard]] auto range() const { return typename search::range{-1, limit, begin}; }
  };
  struct sampled_vertex {
    Distance distance;
    double degree;  // plus 1
  };

  [[nodiscard]] std::uint64_t bucket_of(Distance d) const { return s_.work.bucket_of(d); }
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
    assumed_heaviest_ = 2 * sum / static_cast<double>(size);
    if (!(assumed_heaviest_ > 0)) return;
    look_at_ = static_cast<std::uint64_t>(begun * static_cast<double>(edges)) / workers();
  }

  // Called at distance `now`. One worker at a time looks.
  void look_at_sample(worker_t k, Distance now) {
    if (looking_.exchange(true, std::memory_order_acquire)) return;
    if (s_.counts[k].relaxations < look_at_.load(std::memory_order_relaxed)) {
      return looking_.store(false, std::memory_order_release);  // another worker has just looked
    }
    const auto n = num_radii_.load(std::memory_order_relaxed);
    // Once there is a radius, the edges that it skips are not counted.
    const auto relaxed = n > 0 ? std::uint64_t{0} : s_.counts[k].relaxations * workers();
    const auto r = best_radius(k, bucket_of(now), relaxed);
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
  // the share r - d of the heaviest weight is visited. A vertex beyond r is pulled: this visits the
  // share d of its edges and costs as much as `per_row` further edges. Later stages cost `later`
  // per edge.
  //
  // relaxed   edges so far, 0 if unknown; given only while distances are upper bounds
  [[nodiscard]] std::optional<radius> best_radius(worker_t k, std::uint64_t first,
                                                  std::optional<std::uint64_t> relaxed) {
    constexpr double per_row = 8, clearly = 0.8;
    constexpr std::size_t one_in = 50;
    const auto skip = in_->binned() ? 0 : 0.2;  // without bins, skipped edges are read
    const auto later = 0.3 + skip;
    const auto cost_beyond = [&](const sampled_vertex& e) {
      return std::min(1.0, static_cast<double>(e.distance) / assumed_heaviest_) + skip +
             per_row / e.degree;
    };
    unsettled_.clear();
    double beyond = 0, within = 0;
    std::size_t settled = 0;
    for (const auto v : sample_) {
      const sampled_vertex e{s_.found(k, v), static_cast<double>(in_->degree(v)) + 1};
      if (e.distance != unreached<Distance> && bucket_of(e.distance) < first) {
        ++settled;
      } else {
        unsettled_.push_back(e);
      }
    }
    std::ranges::sort(unsettled_, {}, &sampled_vertex::distance);
    if (relaxed) lower_to_expected(*relaxed, settled, static_cast<double>(first + 1) * width_);
    while (!unsettled_.empty() && unsettled_.back().distance == unreached<Distance>) {
      beyond += cost_beyond(unsettled_.back());
      unsettled_.pop_back();
    }
    for (const auto& e : unsettled_) beyond += cost_beyond(e) + later;
    // A stage reads all vertices, which is not worth it for a few edges.
    if (unsettled_.size() * one_in < sample_.size()) return std::nullopt;
    auto least = clearly * static_cast<double>(unsettled_.size());
    std::optional<radius> best;
    for (std::size_t i = 0; i < unsettled_.size(); ++i) {
      if (i > 0) {
        const auto step = unsettled_[i].distance - unsettled_[i - 1].distance;
        within += static_cast<double>(i) * static_cast<double>(step) / assumed_heaviest_;
      }
      beyond -= cost_beyond(unsettled_[i]) + later;
      within += skip;
      if (within + beyond >= least) continue;
      const auto r = radius_at(bucket_of(unsettled_[i].distance));
      if (!r) break;
      least = within + beyond;
      best = r;
    }
    return best;
  }

  // Lowers the distances of the sample to the expected final ones, if enough vertices are reached
  // that the rest is probably reachable. The share of settled edges is modelled as a logistic
  // function of the distance, which has grown exponentially up to `now`. This holds for vertices
  // with many edges; the others are further away, by about their lightest edge.
  void lower_to_expected(std::uint64_t relaxed, std::size_t settled, double now) {
    constexpr std::size_t enough = 8;
    constexpr double many = 0.4;
    constexpr double expected_lightest = 1.5;  // times the mean of as many weights
    const auto all = static_cast<double>(sample_.size());
    const auto edges = static_cast<double>(out_.num_edges());
    const auto share =
        std::max(static_cast<double>(settled) / all, static_cast<double>(relaxed) / edges);
    const auto exponent = std::log(share * edges / source_degree_);
    if (settled < enough || !(exponent > 1) || share > 0.5) return;
    const auto reached =
        std::ranges::find(unsettled_, unreached<Distance>, &sampled_vertex::distance);
    if (static_cast<double>(settled) + static_cast<double>(reached - unsettled_.begin()) <
        many * all) {
      return;
    }
    const auto log_odds = [](double x) { return std::log(x / (1 - x)); };
    for (std::size_t i = 0; i < unsettled_.size(); ++i) {
      auto& e = unsettled_[i];
      const auto share_then = (static_cast<double>(settled + i) + 0.5) / all;
      const auto later = std::max(0.0, log_odds(share_then) - log_odds(share)) / exponent;
      const auto expected = now * (1 + later) + expected_lightest * assumed_heaviest_ / e.degree;
      if (expected < static_cast<double>(e.distance)) e.distance = static_cast<Distance>(expected);
    }
    std::ranges::sort(unsettled_, {}, &sampled_vertex::distance);
  }

  // Nothing if distances beyond it might not fit their type, or would be in the same bucket.
  [[nodiscard]] std::optional<radius> radius_at(std::uint64_t last_bucket) const {
    const auto end = static_cast<double>(last_bucket + 1) * width_;
    if (!(end < static_cast<double>(s_.furthest)) || bucket_of(s_.furthest) <= last_bucket) {
      return std::nullopt;
    }
    if constexpr (std::is_integral_v<Distance>) {
      auto begin = static_cast<Distance>(std::ceil(end));  // rounded like `end`
      while (bucket_of(begin - 1) > last_bucket) --begin;
      while (bucket_of(begin) <= last_bucket) ++begin;
      return radius{last_bucket, begin - 1, begin};
    } else {
      constexpr double rounding = 1e-9;
      return radius{last_bucket, end * (1 + rounding), end * (1 - rounding)};
    }
  }

  // Lowers the distances beyond bucket `last` along edges that may have been skipped: those from
  // buckets up to `last_skipping`, because the radius was larger before.
  void lower_beyond(std::uint64_t last, std::uint64_t last_skipping) {
    traverse::for_each_own(
        s_.w, out_,
        [&](worker_t k, Id v) {
          const auto d = s_.distance.load(v);
          if (bucket_of(d) > last) pull_distance(k, v, d, last_skipping);
        },
        20);
  }

  void pull_distance(worker_t k, Id v, const Distance before, std::uint64_t last_skipping) {
    auto best = before;
    std::uint64_t visited = 0;
    in_->each_edge_within(v, search::weight_within(before), [&](Id u, auto x) {
      const auto length = static_cast<Distance>(x);
      if (!(length < best)) return;
      ++visited;
      const auto d = s_.distance.load(u);
      if (bucket_of(d) <= last_skipping) best = std::min(best, static_cast<Distance>(d + length));
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
  double assumed_heaviest_ = 0;  // twice the mean weight: as if distributed uniformly
  std::vector<Id> sample_;       // where random edges begin
  std::vector<sampled_vertex> unsettled_;
  std::atomic<std::uint64_t> look_at_{never};  // relaxations of a worker that looks at the sample
  std::atomic<bool> looking_{false};
  std::array<radius, 12> radii_{};  // of the first stage, each smaller than the one before
  std::atomic<std::size_t> num_radii_{0};
};

}  // namespace cairn::algo
