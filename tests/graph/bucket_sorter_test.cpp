// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <graph/bucket_sorter.hpp>
#include <limits>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

namespace cairn::graph::detail::bucket_sorter_test {
namespace {

struct arc {
  std::uint16_t row;
  std::uint64_t target;
  double weight;
  auto operator<=>(const arc&) const = default;
};

std::vector<arc> random_arcs(std::size_t n, std::size_t rows, std::uint64_t targets) {
  random64 random(n + rows);
  std::vector<arc> arcs(n);
  for (auto& a : arcs) {
    a = {static_cast<std::uint16_t>(random.below(rows)), random.below(targets),
         static_cast<double>(random.below(5)) - 2};
  }
  return arcs;
}

template <class Id, class W>
std::vector<arc> sorted_by(bucket_sorter<Id, W>& sorter, const std::vector<arc>& arcs,
                           std::size_t num_rows, unsigned target_bits, bool drop_duplicates) {
  using line = arc_line<Id, W>;
  const std::size_t run_arcs = 5 * line::arcs + 3;  // runs end within a line
  std::vector<std::vector<line>> lines;
  std::vector<arc_run<Id, W>> runs;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto at = i % run_arcs;
    if (at == 0) lines.emplace_back(6);
    auto& to = lines.back()[at / line::arcs];
    to.targets[at % line::arcs] = static_cast<Id>(arcs[i].target);
    to.rows[at % line::arcs] = arcs[i].row;
    if constexpr (std::is_arithmetic_v<W>) {
      to.weights.at[at % line::arcs] = static_cast<W>(arcs[i].weight);
    }
  }
  for (const auto& run : lines) runs.push_back({run.data(), run_arcs});
  if (!arcs.empty()) runs.back().size = (arcs.size() - 1) % run_arcs + 1;
  std::vector<Id> targets(arcs.size());
  std::vector<weighted_edge<Id, W>> edges(arcs.size());
  std::vector<std::uint64_t> offsets(num_rows + 1);
  offsets[num_rows] = sorter({.runs = runs,
                              .targets = targets.data(),
                              .edges = edges.data(),
                              .offsets = offsets.data(),
                              .num_rows = num_rows},
                             target_bits, drop_duplicates);
  std::vector<arc> sorted;
  for (std::size_t r = 0; r < num_rows; ++r) {
    for (auto i = offsets[r]; i < offsets[r + 1]; ++i) {
      double weight = 0;
      if constexpr (std::is_arithmetic_v<W>) {
        weight = static_cast<double>(edges[i].weight);
        EXPECT_EQ(edges[i].target, targets[i]);
      }
      sorted.push_back({static_cast<std::uint16_t>(r), targets[i], weight});
    }
  }
  return sorted;
}

std::vector<arc> expected(std::vector<arc> arcs, bool weighted, bool drop_duplicates) {
  for (auto& a : arcs) a.weight = weighted ? a.weight : 0;
  std::sort(arcs.begin(), arcs.end());
  if (drop_duplicates) {
    const auto same = [](const arc& a, const arc& b) {
      return a.row == b.row && a.target == b.target;
    };
    arcs.erase(std::unique(arcs.begin(), arcs.end(), same), arcs.end());
  }
  return arcs;
}

template <class Types>
class BucketSorter : public testing::Test {};

template <class I, class W>
struct types {
  using id = I;
  using weight = W;
};
using all_types =
    testing::Types<types<std::uint32_t, unweighted>, types<std::uint32_t, std::int32_t>,
                   types<std::uint32_t, double>, types<std::uint64_t, unweighted>,
                   types<std::uint64_t, std::int32_t>, types<std::uint64_t, double>>;
TYPED_TEST_SUITE(BucketSorter, all_types);

TYPED_TEST(BucketSorter, SortsByRowTargetAndWeightBothByRadixAndRowByRow) {
  using id = typename TypeParam::id;
  using weight = typename TypeParam::weight;
  constexpr bool weighted = std::is_arithmetic_v<weight>;
  struct shape {
    std::size_t arcs, rows;
    unsigned target_bits;
  };
  for (const auto& [n, rows, bits] :
       {shape{0, 3, 4}, shape{1, 1, 1}, shape{500, 7, 4}, shape{3000, 65536, 11},
        shape{3000, 300, 12}, shape{2000, 1, 23}, shape{2000, 40, 32},
        shape{1000, 9, sizeof(id) == 8 ? 48 : 31}}) {
    const auto arcs = random_arcs(n, rows, std::uint64_t{1} << bits);
    bucket_sorter<id, weight> by_radix, by_row(0);
    for (const bool drop : {false, true}) {
      const auto wanted = expected(arcs, weighted, drop);
      EXPECT_EQ(sorted_by(by_radix, arcs, rows, bits, drop), wanted) << n << ' ' << bits;
      EXPECT_EQ(sorted_by(by_row, arcs, rows, bits, drop), wanted) << n << ' ' << bits;
    }
  }
}

TYPED_TEST(BucketSorter, KeepsTargetsAtTheEndOfTheIdRange) {
  using id = typename TypeParam::id;
  const std::uint64_t largest =
      sizeof(id) == 4 ? std::numeric_limits<std::uint32_t>::max() : (std::uint64_t{1} << 48) - 1;
  const std::vector<arc> arcs = {{0, largest, 0}, {0, 0, 0}, {0, largest, 0}, {1, largest, 0}};
  bucket_sorter<id, typename TypeParam::weight> sorter;
  EXPECT_EQ(sorted_by(sorter, arcs, 2, sizeof(id) == 4 ? 32 : 48, true),
            (std::vector<arc>{{0, 0, 0}, {0, largest, 0}, {1, largest, 0}}));
}

}  // namespace
}  // namespace cairn::graph::detail::bucket_sorter_test
