// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <cairn/algo/sssp.hpp>

namespace cairn::algo {

/// A radius that ends exactly at a bucket.
template <class Distance>
struct radius {
  std::uint64_t last = 0;  ///< the last bucket within it
  /// No target gets a distance above `limit`. Entries from `begin` on may be beyond the last
  /// bucket: another worker may be processing one that the limit does not exclude.
  Distance limit{}, begin{};
};

/// The radius that ends with bucket `last`. Nothing if distances beyond it might not fit their
/// type, or would be in the same bucket.
///
/// furthest    the largest distance to which every edge can be added
/// bucket_of   the bucket of a distance, as the queue rounds it
template <class Distance, class BucketOf>
[[nodiscard]] std::optional<radius<Distance>> radius_to(std::uint64_t last, double width,
                                                        Distance furthest,
                                                        const BucketOf& bucket_of) {
  const auto end = static_cast<double>(last + 1) * width;
  if (!(end < static_cast<double>(furthest)) || bucket_of(furthest) <= last) return std::nullopt;
  if constexpr (std::is_integral_v<Distance>) {
    auto begin = static_cast<Distance>(std::ceil(end));  // rounded like `end`
    while (bucket_of(begin - 1) > last) --begin;
    while (bucket_of(begin) <= last) ++begin;
    return radius<Distance>{last, begin - 1, begin};
  } else {
    constexpr double rounding = 1e-9;
    return radius<Distance>{last, end * (1 + rounding), end * (1 - rounding)};
  }
}

/// Distances of vertices where randomly sampled edges begin.
template <class Distance>
struct distance_sample {
  struct vertex {
    Distance distance;  ///< an upper bound, or `unreached`
    double degree;      ///< number of in-edges, plus 1
  };
  std::size_t num_settled = 0;    ///< vertices before the current bucket
  std::vector<vertex> unsettled;  ///< the others, ascending by distance

  [[nodiscard]] std::size_t size() const { return num_settled + unsettled.size(); }
  [[nodiscard]] std::size_t num_reached_unsettled() const {
    const auto end =
        std::ranges::lower_bound(unsettled, unreached<Distance>, {}, &vertex::distance);
    return static_cast<std::size_t>(end - unsettled.begin());
  }
  void sort() { std::ranges::sort(unsettled, {}, &vertex::distance); }
};

/// How far a search has come.
struct search_progress {
  double distance;         ///< the end of the current bucket
  double relaxed_share;    ///< of all edges; 0: unknown
  double edges_at_source;  ///< share of all edges
};

/// Lowers the upper bounds of a sample to the expected final distances, if enough vertices are
/// reached that the rest is probably reachable.
///
/// The share of settled edges is modelled as a logistic function of the distance, which has grown
/// exponentially until now. This holds for vertices with many edges; the others are further away,
/// by about their lightest in-edge.
///
/// heaviest  weight of an edge
template <class Distance>
void lower_to_expected(distance_sample<Distance>& sample, const search_progress& now,
                       double heaviest) {
  constexpr std::size_t enough = 8;
  constexpr double many = 0.4, saturated = 0.5;
  constexpr double expected_lightest = 1.5;  // times the mean of as many weights
  const auto all = static_cast<double>(sample.size());
  const auto settled = static_cast<double>(sample.num_settled);
  const auto share = std::max(settled / all, now.relaxed_share);
  const auto exponent = std::log(share / now.edges_at_source);
  if (sample.num_settled < enough || !(exponent > 1) || share > saturated) return;
  if (settled + static_cast<double>(sample.num_reached_unsettled()) < many * all) return;
  const auto log_odds = [](double x) { return std::log(x / (1 - x)); };
  for (std::size_t i = 0; i < sample.unsettled.size(); ++i) {
    auto& v = sample.unsettled[i];
    const auto share_then = (settled + static_cast<double>(i) + 0.5) / all;
    const auto later = std::max(0.0, log_odds(share_then) - log_odds(share)) / exponent;
    const auto expected = now.distance * (1 + later) + expected_lightest * heaviest / v.degree;
    if (expected < static_cast<double>(v.distance)) v.distance = static_cast<Distance>(expected);
  }
  sample.sort();
}

/// What an edge costs, relative to relaxing it.
struct edge_costs {
  double heaviest;  ///< weight, as if weights were distributed uniformly from 0
  double skipped;   ///< an edge that a radius or a pull leaves out
};

/// The radius by which the fewest edges will be visited, if these are clearly fewer than without a
/// radius.
///
/// Of the edges of a vertex at distance d within radius r, the share r - d of the heaviest weight
/// is visited. A vertex beyond r is pulled: this visits the share d of its edges and costs as much
/// as `per_row` further edges. Later stages cost `later` per edge.
///
/// In-degrees stand for out-degrees. In directed graphs the cost of a pull should be divided by
/// out-edges. With these constants that costs time where most in-degrees are small, because radii
/// are then chosen that do not pay off.
///
/// radius_at   the radius whose last bucket contains a distance, or nothing if distances have
///             become too large
template <class Distance, class RadiusAt>
[[nodiscard]] std::optional<radius<Distance>> best_radius(const distance_sample<Distance>& sample,
                                                          const edge_costs& costs,
                                                          const RadiusAt& radius_at) {
  constexpr double per_row = 8, clearly = 0.8;
  constexpr std::size_t one_in = 50;
  const auto later = 0.3 + costs.skipped;
  const auto& vertices = sample.unsettled;
  const auto reached = sample.num_reached_unsettled();
  // A stage reads all vertices, which is not worth it for a few edges.
  if (reached * one_in < sample.size()) return std::nullopt;
  const auto pull = [&](const auto& v) {
    const auto visited = std::min(1.0, static_cast<double>(v.distance) / costs.heaviest);
    return visited + costs.skipped + per_row / v.degree;
  };
  double within = 0, beyond = later * static_cast<double>(reached);
  for (const auto& v : vertices) beyond += pull(v);
  auto least = clearly * static_cast<double>(reached);
  std::optional<radius<Distance>> best;
  for (std::size_t i = 0; i < reached; ++i) {
    if (i > 0) {
      const auto step = vertices[i].distance - vertices[i - 1].distance;
      within += static_cast<double>(i) * static_cast<double>(step) / costs.heaviest;
    }
    within += costs.skipped;
    beyond -= pull(vertices[i]) + later;
    if (within + beyond >= least) continue;
    const auto r = radius_at(vertices[i].distance);
    if (!r) break;
    least = within + beyond;
    best = r;
  }
  return best;
}

}  // namespace cairn::algo
