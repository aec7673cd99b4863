// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/radius_model.hpp"
#include "algo/search_range.hpp"
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
        s_.expand(k, batch, within(radii_[n - 1]));
      } else {
        s_.expand(k, batch);
      }
      if (s_.counts[k].too_far && s_.w.size() == 1) [[unlikely]]
        return s_.work.end_at(0);
      if (s_.counts[k].relaxations >= look_at_.load(std::memory_order_relaxed)) {
        look_at_sample(k, now);
      }
    });
    if (num_radii_ == 0 || s_.too_far()) return;
    auto first = radii_[0], last = radii_[num_radii_ - 1];
    for (int stage = 1;; ++stage) {
      s_.gather();
      lower_beyond(last.last, first.last);
      const auto next = best_radius_from(main_worker, last.last + 1, std::nullopt);
      if (!next || stage == max_stages) break;
      s_.work.run([&](worker_t k, auto& batch) { s_.expand(k, batch, within(*next)); },
                  next->last + 1);
      first = last = *next;
    }
    s_.work.run([&](worker_t k, auto& batch) { s_.expand(k, batch); });
  }

  /// The number of radii that the first stage had; 0: no edge was skipped.
  [[nodiscard]] std::size_t num_first_radii() const { return num_radii_; }

 private:
  static constexpr double begun = 0.02;  // share of the edges, relaxed before the first look
  static constexpr int max_stages = 4;   // with a radius
  static constexpr std::uint64_t smallest_sample = 64, largest_sample = 1024;
  static constexpr std::uint64_t edges_per_sampled = 8192;
  static constexpr std::uint64_t relaxed_per_sampled = 200;  // bounds the time of looks
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  [[nodiscard]] static auto within(const radius<Distance>& r) {
    return typename search::range{-1, r.limit, r.begin};
  }
  [[nodiscard]] std::uint64_t bucket_of(Distance d) const { return s_.work.bucket_of(d); }
  [[nodiscard]] std::uint64_t workers() const { return static_cast<std::uint64_t>(s_.w.workers()); }

  void draw_sample() {
    const auto edges = out_.num_edges();
    if (edges == 0) return;
    const auto size = std::clamp(edges / edges_per_sampled, smallest_sample, largest_sample);
    random64 draw(edges);
    const auto first = in_->row_of(out_.first()).begin;
    double sum = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto e = in_->edge_at(first + draw.below(edges));
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
    const auto r = best_radius_from(k, bucket_of(now), relaxed);
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

  // The best radius that ends in bucket `first` or later.
  //
  // relaxed   edges so far, 0 if unknown; given only while distances are upper bounds
  [[nodiscard]] std::optional<radius<Distance>> best_radius_from(
      worker_t k, std::uint64_t first, std::optional<std::uint64_t> relaxed) {
    found_.num_settled = 0;
    found_.unsettled.clear();
    for (const auto v : sample_) {
      const auto d = s_.found(k, v);
      if (d != unreached<Distance> && bucket_of(d) < first) {
        ++found_.num_settled;
      } else {
        found_.unsettled.push_back({d, static_cast<double>(in_->degree(v)) + 1});
      }
    }
    found_.sort();
    if (relaxed) {
      const auto edges = static_cast<double>(out_.num_edges());
      lower_to_expected(found_,
                        {.distance = static_cast<double>(first + 1) * width_,
                         .relaxed_share = static_cast<double>(*relaxed) / edges,
                         .edges_at_source = source_degree_ / edges},
                        assumed_heaviest_);
    }
    const auto radius_at = [&](Distance d) {
      return radius_to(bucket_of(d), width_, s_.furthest, [&](Distance x) { return bucket_of(x); });
    };
    const auto skipped = in_->binned() ? 0 : 0.2;  // without bins, they are read
    return best_radius(found_, {.heaviest = assumed_heaviest_, .skipped = skipped}, radius_at);
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
    in_->each_edge_within(in_->row_of(v), weight_within(before), [&](Id u, auto x) {
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
    s_.reached.add(k, {v, best});
  }

  search& s_;
  const graph::csr<Id>& out_;
  const std::optional<rows>& in_;
  const double width_;
  double source_degree_ = 1;
  double assumed_heaviest_ = 0;  // twice the mean weight: as if distributed uniformly
  std::vector<Id> sample_;       // where random edges begin
  distance_sample<Distance> found_;
  std::atomic<std::uint64_t> look_at_{never};  // relaxations of a worker that looks at the sample
  std::atomic<bool> looking_{false};
  // Of the first stage, each smaller than the one before.
  std::array<radius<Distance>, 12> radii_{};
  std::atomic<std::size_t> num_radii_{0};
};

}  // namespace cairn::algo
