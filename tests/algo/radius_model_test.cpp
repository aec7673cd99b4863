// SPDX-License-Identifier: Apache-2.0
#include "algo/radius_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

namespace cairn::algo::radius_model_test {
namespace {

constexpr auto never = unreached<std::uint32_t>;

// `num` vertices of degree 99 at each of the distances.
template <class Distance>
distance_sample<Distance> clusters(std::size_t settled, std::size_t num,
                                   const std::vector<Distance>& distances) {
  distance_sample<Distance> sample{settled, {}};
  for (const auto d : distances) sample.unsettled.insert(sample.unsettled.end(), num, {d, 100});
  return sample;
}

// The last bucket of the best radius, with buckets of width 1 up to distance `largest`.
template <class Distance>
std::optional<std::uint64_t> best_end(const distance_sample<Distance>& sample, double heaviest,
                                      double skipped = 0, Distance largest = 1'000'000'000) {
  const auto radius_at = [&](Distance d) -> std::optional<radius<Distance>> {
    if (d > largest) return std::nullopt;
    return radius<Distance>{static_cast<std::uint64_t>(d), d, d};
  };
  const auto best = best_radius(sample, {.heaviest = heaviest, .skipped = skipped}, radius_at);
  return best ? std::optional(best->last) : std::nullopt;
}

TEST(RadiusModel, EndsAtADistanceThatAllHave) {
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(0, 100, {30}), 100), 30u);
  EXPECT_EQ(best_end<double>(clusters<double>(0, 100, {30}), 100), 30u);
}

TEST(RadiusModel, EndsBeforeAClusterThatIsFarForTheWeights) {
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(0, 50, {10, 60}), 100), 60u);
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(0, 50, {10, 600}), 100), 10u);
  EXPECT_EQ(best_end<double>(clusters<double>(0, 50, {10, 600}), 100), 10u);
}

TEST(RadiusModel, LeavesOutAHeavyTail) {
  auto sample = clusters<std::uint32_t>(0, 95, {10});
  for (const auto d : {1'000u, 10'000u, 100'000u, 1'000'000u, 10'000'000u}) {
    sample.unsettled.push_back({d, 100});
  }
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100), 10u);
}

TEST(RadiusModel, CoversUniformDistancesOnlyIfMostEdgesAreHeavier) {
  distance_sample<std::uint32_t> sample;
  for (std::uint32_t d = 1; d <= 100; ++d) sample.unsettled.push_back({d, 100});
  EXPECT_EQ(best_end<std::uint32_t>(sample, 1'000), 100u);
  EXPECT_EQ(best_end<std::uint32_t>(sample, 10), std::nullopt);
}

TEST(RadiusModel, HasNoRadiusWithoutReachedVertices) {
  EXPECT_EQ(best_end<std::uint32_t>({}, 100), std::nullopt);
  EXPECT_EQ(best_end<double>({}, 100), std::nullopt);
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(100, 0, {}), 100), std::nullopt);
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(0, 100, {never}), 100), std::nullopt);
}

TEST(RadiusModel, HasNoRadiusForTheLastFewEdges) {
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(98, 2, {10}), 100), 10u);
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(99, 1, {10}), 100), std::nullopt);
  auto sample = clusters<std::uint32_t>(145, 3, {10});
  sample.unsettled.insert(sample.unsettled.end(), 2, {never, 1'000});
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100), 10u);
  sample.num_settled = 146;  // so that three are less than one in 50
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100), std::nullopt);
}

TEST(RadiusModel, CountsThePullsOfUnreachedVertices) {
  // Half is out of reach: each of its vertices reads all its edges.
  EXPECT_EQ(best_end<std::uint32_t>(clusters<std::uint32_t>(0, 50, {10, never}), 100),
            std::nullopt);
  auto sample = clusters<std::uint32_t>(0, 90, {10});
  sample.unsettled.insert(sample.unsettled.end(), 10, {never, 100});
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100), 10u);
}

TEST(RadiusModel, EndsEarlierIfPulledRowsAreLong) {
  const auto with = [](double degree) {
    auto sample = clusters<std::uint32_t>(0, 50, {10});
    sample.unsettled.insert(sample.unsettled.end(), 50, {150, degree});
    return best_end<std::uint32_t>(sample, 100);
  };
  EXPECT_EQ(with(1'000), 10u);
  EXPECT_EQ(with(50), 150u);
}

TEST(RadiusModel, StaysBelowDistancesThatHaveNoRadius) {
  const auto sample = clusters<std::uint32_t>(0, 50, {10, 40});
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100), 40u);
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100, 0, 39), 10u);
  EXPECT_EQ(best_end<std::uint32_t>(sample, 100, 0, 9), std::nullopt);
}

// The cost of a radius by its definition.
template <class Distance>
double cost_of(double r, const distance_sample<Distance>& sample, double heaviest, double skipped) {
  double all = 0;
  for (const auto& v : sample.unsettled) {
    const auto d = static_cast<double>(v.distance);
    if (d <= r) {
      all += (r - d) / heaviest + skipped;
    } else {
      all += std::min(1.0, d / heaviest) + skipped + 8 / v.degree;
      if (v.distance != unreached<Distance>) all += 0.3 + skipped;
    }
  }
  return all;
}

template <class Distance>
void judge_random_samples() {
  random64 random(3);
  int chosen = 0;
  for (int i = 0; i < 300; ++i) {
    distance_sample<Distance> sample;
    const auto range = 1 + random.below(200);
    for (int v = 0; v < 100; ++v) {
      const bool reached = random.below(10) > 0;
      sample.unsettled.push_back(
          {reached ? static_cast<Distance>(random.below(range)) : unreached<Distance>,
           static_cast<double>(2 + random.below(100))});
    }
    sample.sort();
    const double skipped = i % 2 == 0 ? 0 : 0.2;
    const auto cost = [&](double r) { return cost_of(r, sample, 150, skipped); };
    const auto num = sample.num_reached_unsettled();
    auto least = 0.8 * static_cast<double>(num);
    const auto found = best_end<Distance>(sample, 150, skipped);
    if (found) {
      EXPECT_LT(cost(static_cast<double>(*found)), least);
      least = cost(static_cast<double>(*found));
      ++chosen;
    }
    for (std::size_t v = 0; v < num; ++v) {
      EXPECT_GE(cost(static_cast<double>(sample.unsettled[v].distance)), least - 1e-9)
          << "of " << i;
    }
  }
  EXPECT_GT(chosen, 30);
  EXPECT_LT(chosen, 270);
}

TEST(RadiusModel, FindsTheLeastCost) {
  judge_random_samples<std::uint32_t>();
  judge_random_samples<double>();
}

// As traverse::bucket_queue computes it; inexact.
template <class Distance>
std::uint64_t bucket_of(Distance d, double width) {
  return static_cast<std::uint64_t>(std::min(static_cast<double>(d) * (1 / width), 0x1p62));
}
template <class Distance>
std::optional<radius<Distance>> to_bucket(std::uint64_t last, double width, Distance furthest) {
  return radius_to(last, width, furthest, [width](Distance d) { return bucket_of(d, width); });
}

TEST(Radius, EndsExactlyAtABucketOfIntegers) {
  for (const double width : {0.1, 0.7, 1.0, 1.1, 2.5, 16.0, 49.0}) {
    for (std::uint64_t last = 0; last < 1'000; ++last) {
      const auto r = to_bucket<std::uint32_t>(last, width, never - 1);
      ASSERT_TRUE(r);
      EXPECT_EQ(r->last, last);
      EXPECT_EQ(r->begin, r->limit + 1);
      EXPECT_LE(bucket_of(r->limit, width), last) << width;
      EXPECT_GT(bucket_of(r->begin, width), last) << width;
    }
  }
}

TEST(Radius, ToleratesRoundingOfReals) {
  const auto r = to_bucket<double>(2, 0.1, HUGE_VAL);
  ASSERT_TRUE(r);
  EXPECT_LT(r->begin, 3 * 0.1);
  EXPECT_GT(r->limit, 3 * 0.1);
  EXPECT_NEAR(r->begin, r->limit, 1e-8);
}

TEST(Radius, EndsBeforeTheFurthestDistance) {
  EXPECT_TRUE(to_bucket<std::uint32_t>(9, 10, 101));
  EXPECT_FALSE(to_bucket<std::uint32_t>(9, 10, 100));  // it would begin there
  EXPECT_FALSE(to_bucket<std::uint32_t>(10, 10, 101));
  constexpr auto largest = unreached<std::uint64_t>;
  EXPECT_TRUE(to_bucket<std::uint64_t>(0x7ffe, 0x1p48, largest - 1));
  EXPECT_FALSE(to_bucket<std::uint64_t>(0xffff, 0x1p48, largest - 1));
  EXPECT_TRUE(to_bucket<double>(9, 1e300, HUGE_VAL));
  EXPECT_FALSE(to_bucket<double>(999'999'999, 1e300, HUGE_VAL));
}

TEST(Radius, IsNotInABucketThatAllFurtherDistancesShare) {
  const auto all_in_7 = [](double) { return std::uint64_t{7}; };
  EXPECT_FALSE(radius_to<double>(7, 1e-17, HUGE_VAL, all_in_7));
  EXPECT_TRUE(radius_to<double>(6, 1e-17, HUGE_VAL, all_in_7));
}

// A quarter of 100 vertices is settled at distance 10, and the search has grown by e^2.
const search_progress quarter{
    .distance = 10, .relaxed_share = 0, .edges_at_source = 0.25 / std::exp(2)};

template <class Distance>
distance_sample<Distance> quarter_settled(Distance upper_bound, double degree) {
  distance_sample<Distance> sample{25, {}};
  sample.unsettled.assign(75, {upper_bound, degree});
  return sample;
}

template <class Distance>
std::vector<Distance> lowered(distance_sample<Distance> sample, const search_progress& now,
                              double heaviest) {
  lower_to_expected(sample, now, heaviest);
  std::vector<Distance> distances;
  for (const auto& v : sample.unsettled) distances.push_back(v.distance);
  EXPECT_TRUE(std::ranges::is_sorted(distances));
  return distances;
}

TEST(ExpectedDistances, GrowAsALogisticFunction) {
  const auto found = lowered(quarter_settled<double>(1'000, 1e9), quarter, 100);
  // A share of 0.745 has the log odds 1.072; 0.25 has -1.0986.
  EXPECT_NEAR(found[49], 10 * (1 + (1.0720 + 1.0986) / 2), 0.01);
  EXPECT_NEAR(found[0], 10, 0.2);
  EXPECT_GT(found[74], 25);
  EXPECT_LT(found[74], 50);
}

TEST(ExpectedDistances, AreFurtherByALightInEdge) {
  const auto many = lowered(quarter_settled<double>(1'000, 1e9), quarter, 100);
  const auto few = lowered(quarter_settled<double>(1'000, 10), quarter, 100);
  for (std::size_t i = 0; i < 75; ++i) EXPECT_NEAR(few[i], many[i] + 15, 1e-5);
}

TEST(ExpectedDistances, AreSorted) {
  auto sample = quarter_settled<double>(1'000, 10);
  for (std::size_t i = 0; i < 75; i += 2) sample.unsettled[i].degree = 100;
  EXPECT_NEAR(lowered(sample, quarter, 100).front(), 10 + 1.5, 0.2);
}

TEST(ExpectedDistances, AreNotBeforeTheCurrentBucket) {
  auto now = quarter;
  now.relaxed_share = 0.4;  // more than the sample says
  EXPECT_DOUBLE_EQ(lowered(quarter_settled<double>(1'000, 100), now, 100).front(), 10 + 1.5);
}

TEST(ExpectedDistances, AreRoundedDownToIntegers) {
  const auto real = lowered(quarter_settled<double>(1'000, 10), quarter, 100);
  const auto whole = lowered(quarter_settled<std::uint32_t>(1'000, 10), quarter, 100);
  for (std::size_t i = 0; i < 75; ++i) EXPECT_EQ(whole[i], std::floor(real[i]));
}

TEST(ExpectedDistances, AreAtMostTheUpperBounds) {
  const auto found = lowered(quarter_settled<std::uint32_t>(30, 10), quarter, 100);
  EXPECT_LT(found.front(), 30u);
  EXPECT_EQ(found.back(), 30u);
}

TEST(ExpectedDistances, ReplaceMissingOnesIfTheRestIsProbablyReachable) {
  auto sample = quarter_settled<std::uint32_t>(1'000, 10);
  for (std::size_t i = 15; i < 75; ++i) sample.unsettled[i].distance = never;
  EXPECT_LT(lowered(sample, quarter, 100).back(), 100u);
  sample.unsettled[14].distance = never;
  EXPECT_EQ(lowered(sample, quarter, 100).back(), never);
}

TEST(ExpectedDistances, AreTheUpperBoundsOfASearchThatDoesNotGrowFast) {
  const std::vector<std::uint32_t> same(75, 1'000);
  const auto sample = quarter_settled<std::uint32_t>(1'000, 10);
  auto now = quarter;
  now.edges_at_source = 0.25 / std::exp(1.01);
  EXPECT_NE(lowered(sample, now, 100), same);
  now.edges_at_source = 0.25 / std::exp(0.99);
  EXPECT_EQ(lowered(sample, now, 100), same);
}

TEST(ExpectedDistances, AreTheUpperBoundsOnceGrowthIsSaturated) {
  const std::vector<std::uint32_t> same(75, 1'000);
  const auto sample = quarter_settled<std::uint32_t>(1'000, 10);
  auto now = quarter;
  now.relaxed_share = 0.5;
  EXPECT_NE(lowered(sample, now, 100), same);
  now.relaxed_share = 0.51;
  EXPECT_EQ(lowered(sample, now, 100), same);
  EXPECT_EQ(lowered(clusters<std::uint32_t>(51, 49, {1'000}), quarter, 100),
            (std::vector<std::uint32_t>(49, 1'000)));
}

TEST(ExpectedDistances, AreTheUpperBoundsOfASmallSample) {
  EXPECT_EQ(lowered<double>({}, quarter, 100), std::vector<double>{});
  EXPECT_EQ(lowered(clusters<double>(7, 7, {1'000}), quarter, 100), std::vector<double>(7, 1'000));
  EXPECT_NE(lowered(clusters<double>(8, 8, {1'000}), quarter, 100), std::vector<double>(8, 1'000));
}

}  // namespace
}  // namespace cairn::algo::radius_model_test
