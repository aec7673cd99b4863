// SPDX-License-Identifier: Apache-2.0
#include "algo/group_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

#include <gtest/gtest.h>

#include <cairn/algo/sssp.hpp>
#include <cairn/base/random.hpp>

#include <support/dist_graph.hpp>
#include <support/on_ranks.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::group_choice_test {
namespace {

// Processes `buckets` buckets whose groups cost `fixed_ns` and each bucket `bucket_ns`. Returns the
// time of all.
std::uint64_t process(group_choice& group, std::uint64_t buckets, std::uint64_t fixed_ns,
                      std::uint64_t bucket_ns) {
  std::uint64_t sum_ns = 0;
  for (std::uint64_t done = 0; done < buckets; done += group.size()) {
    const auto ns = fixed_ns + bucket_ns * std::min(group.size(), buckets - done);
    sum_ns += ns;
    group.took(ns);
  }
  return sum_ns;
}

TEST(GroupChoice, GroupsOfSmallBucketsGrowUntilTheirCostIsSmall) {
  for (const std::uint64_t bucket_ns : {1u, 10u, 100u, 1'000u, 10'000u}) {
    group_choice group;
    const std::uint64_t buckets = 100'000, fixed_ns = 20'000;
    const auto sum_ns = process(group, buckets, fixed_ns, bucket_ns);
    EXPECT_LE(sum_ns, buckets * bucket_ns * 5 / 4 + 20 * fixed_ns) << bucket_ns;
    EXPECT_LE((group.size() / 2) * bucket_ns, 16 * (fixed_ns + bucket_ns)) << bucket_ns;
  }
}

TEST(GroupChoice, LargeBucketsStayAlone) {
  group_choice group;
  group.took(1'000);  // that of the source, which has few edges
  const auto after_source = group.size();
  EXPECT_EQ(after_source, 2u);
  for (int i = 0; i < 50; ++i) group.took(8'000 + static_cast<std::uint64_t>(i));
  EXPECT_EQ(group.size(), after_source);
}

// Small buckets along a path, then large ones.
TEST(GroupChoice, ShrinksWhereBucketsGrow) {
  group_choice group;
  process(group, 10'000, 20'000, 100);
  const auto on_path = group.size();
  EXPECT_GE(on_path, 512u);
  process(group, 100'000, 20'000, 100'000);
  EXPECT_LE(group.size(), 32u);
}

// Whatever is measured: sizes are powers of two within the bounds, and at most double or halve.
TEST(GroupChoice, KeepsItsBoundsWhateverIsMeasured) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    random64 random(seed);
    group_choice group;
    for (int i = 0; i < 60; ++i) {
      const auto before = group.size();
      group.took(random() >> random.below(64));
      const auto after = group.size();
      EXPECT_TRUE(after == before || after == 2 * before || 2 * after == before);
      EXPECT_GE(after, 1u);
      EXPECT_LE(after, group_choice::max_size);
    }
  }
}

TEST(GroupChoice, ALongPathTakesFewGroupsUnlessAWidthIsGiven) {
  support::on_simulated_ranks(2, 1, 3, [](world& w) {
    const auto g = support::share_of<std::uint32_t>(support::path(2'000), w.rank(), w.size());
    const auto groups = [&](std::optional<double> delta) {
      const auto found =
          sssp(w, g, std::uint32_t{0}, {.algorithm = sssp_method::delta, .delta = delta});
      const auto& r = std::get<sssp_result<std::uint32_t>>(found);
      EXPECT_TRUE(!r.distance.owns(1'999) || r.distance.load(1'999) == 1'999u);
      return r.buckets;
    };
    EXPECT_LE(groups({}), 100u);
    EXPECT_EQ(groups(1.0), 2'000u);
  });
}

}  // namespace
}  // namespace cairn::algo::group_choice_test
