// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/aggregator.hpp>
#include <cairn/base/aggregator_laws.hpp>

namespace cairn::aggregator_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<std::int64_t> numbers{0, 1, -1, 7, 7, -30, 1000};
const std::vector<std::uint32_t> words{0, 1, 2, 3, 0xffff'ffff, 0x8000'0000, 12345};

struct nearly {
  bool operator()(double a, double b) const { return std::abs(a - b) <= 1e-9; }
};

template <aggregator A, class Equal = std::equal_to<>>
void expect_aggregator(const std::vector<typename A::value_type>& samples, Equal equal = {}) {
  EXPECT_EQ(broken_law<A>(samples, equal), "");
}

TEST(Aggregator, NumbersKeepTheLaws) {
  expect_aggregator<add<std::int64_t>>(numbers);
  expect_aggregator<multiply<std::int64_t>>(numbers);
  expect_aggregator<minimum<std::int64_t>>(numbers);
  expect_aggregator<maximum<std::int64_t>>(numbers);
  expect_aggregator<add<double>>({0, 0.1, 0.2, -0.3, 1e3}, nearly{});
  expect_aggregator<minimum<double>>({0, 0.1, -0.3, 1e300, infinity, -infinity});
  expect_aggregator<maximum<double>>({0, 0.1, -1e300, infinity, -infinity});
}

TEST(Aggregator, LogicAndBitsKeepTheLaws) {
  expect_aggregator<logical_and>({false, true});
  expect_aggregator<logical_or>({false, true});
  expect_aggregator<logical_xor>({false, true});
  expect_aggregator<bit_and<std::uint32_t>>(words);
  expect_aggregator<bit_or<std::uint32_t>>(words);
  expect_aggregator<bit_xor<std::uint32_t>>(words);
  expect_aggregator<bit_and<std::uint8_t>>({0, 1, 0x80, 0xff});
}

TEST(Aggregator, PlacesKeepTheLawsAndTheLeastOfEquals) {
  const std::vector<at_place<int>> samples{{3, 1}, {3, 0}, {-5, 9}, {8, 2}, {8, 7}};
  expect_aggregator<minimum_at<int>>(samples);
  expect_aggregator<maximum_at<int>>(samples);
  const std::vector<at_place<double>> reals{{0, 1}, {infinity, 3}, {infinity, 4}, {-infinity, 5}};
  expect_aggregator<minimum_at<double>>(reals);
  expect_aggregator<maximum_at<double>>(reals);
  EXPECT_EQ(minimum_at<int>::combine({3, 1}, {3, 0}), (at_place<int>{3, 0}));
  EXPECT_EQ(maximum_at<int>::combine({8, 7}, {8, 2}), (at_place<int>{8, 2}));
  EXPECT_EQ(maximum_at<int>::combine({8, 7}, {9, 9}), (at_place<int>{9, 9}));
}

TEST(Aggregator, CollectionsKeepTheLaws) {
  expect_aggregator<add_vectors<int>>({{}, {1}, {1, 2, 3}, {0, 0, 0, 5}});
  expect_aggregator<each_element<maximum<int>>>({{}, {-1}, {1, 2, 3}, {0, 0, 0, -5}});
  expect_aggregator<merge_histograms<std::string>>({{}, {{"a", 1}}, {{"a", 2}, {"b", 3}}});
  expect_aggregator<set_union<int>>({{}, {1}, {1, 2}, {7}});
  expect_aggregator<bag_union<int>>({{}, {1}, {1, 1, 2}, {7}});
}

TEST(Aggregator, CombinesAsItsNameSays) {
  EXPECT_EQ(add<int>::combine(2, 3), 5);
  EXPECT_EQ(multiply<int>::combine(2, 3), 6);
  EXPECT_EQ(minimum<int>::combine(2, 3), 2);
  EXPECT_EQ(maximum<int>::combine(2, 3), 3);
  EXPECT_EQ(logical_xor::combine(true, true), false);
  EXPECT_EQ(bit_and<std::uint32_t>::combine(6, 3), 2u);
  EXPECT_EQ(bit_or<std::uint32_t>::combine(6, 3), 7u);
  EXPECT_EQ(bit_xor<std::uint32_t>::combine(6, 3), 5u);
  EXPECT_EQ(add_vectors<int>::combine({1}, {1, 2}), (std::vector<int>{2, 2}));
  EXPECT_EQ(bag_union<int>::combine({1}, {1}).size(), 2u);
  EXPECT_EQ(set_union<int>::combine({1}, {1}).size(), 1u);
}

// Including elements one by one is combining with each alone.
TEST(Aggregator, CollectionsTakeInOneElement) {
  std::vector<int> sums;
  add_vectors<int>::include(sums, 2, 5);
  add_vectors<int>::include(sums, 0, 1);
  add_vectors<int>::include(sums, 2, 2);
  EXPECT_EQ(sums, (std::vector<int>{1, 0, 7}));
  std::vector<bool> all;
  each_element<logical_and>::include(all, 1, false);
  EXPECT_EQ(all, (std::vector<bool>{true, false}));
  std::map<std::string, std::uint64_t> found;
  merge_histograms<std::string>::include(found, "a");
  merge_histograms<std::string>::include(found, "b", 3);
  merge_histograms<std::string>::include(found, "a");
  EXPECT_EQ(found, (std::map<std::string, std::uint64_t>{{"a", 2}, {"b", 3}}));
  std::set<int> seen;
  std::multiset<int> copies;
  for (const int x : {7, 1, 7}) {
    set_union<int>::include(seen, x);
    bag_union<int>::include(copies, x);
  }
  EXPECT_EQ(seen, (std::set<int>{1, 7}));
  EXPECT_EQ(copies, (std::multiset<int>{1, 7, 7}));
  static_assert(includes<merge_histograms<int>, int> && includes<merge_histograms<int>, int, int>);
  static_assert(!includes<add<int>, int> && !includes<set_union<int>, std::string>);
}

TEST(Aggregator, CombinesIntoWhatIsThere) {
  int sum = 3;
  combine_into<add<int>>(sum, 4);
  EXPECT_EQ(sum, 7);
  std::set<int> all{1, 2};
  const std::set<int> more{2, 3, 4};
  combine_into<set_union<int>>(all, more);
  EXPECT_EQ(all, (std::set<int>{1, 2, 3, 4}));
  EXPECT_EQ(more.size(), 3u) << "what is combined keeps its elements";
  // Elements move, they are not copied.
  std::set<std::string> names{"one"};
  std::set<std::string> others{"three", "two"};
  const auto* const two = &*others.find("two");
  combine_into<set_union<std::string>>(names, std::move(others));
  EXPECT_EQ(&*names.find("two"), two);
}

struct subtraction {  // neither commutative nor associative
  using value_type = int;
  static int identity() { return 0; }
  static int combine(int a, int b) { return a - b; }
};
struct mean {  // commutative, not associative
  using value_type = double;
  static double identity() { return 0; }
  static double combine(double a, double b) { return (a + b) / 2; }
};
struct sum_from_one {  // 1 is no identity
  using value_type = int;
  static int identity() { return 1; }
  static int combine(int a, int b) { return a + b; }
};
struct first {  // associative, not commutative; its identity holds on the left only
  using value_type = int;
  static int identity() { return 0; }
  static int combine(int a, int b) { return a == 0 ? b : a; }
};
struct forgetful : add<int> {  // in place it does something else
  static void combine_into(int& sum, int b) { sum = b; }
};
struct distance {  // commutative with an identity, not associative
  using value_type = int;
  static int identity() { return 0; }
  static int combine(int a, int b) { return a < b ? b - a : a - b; }
};

// The check itself: what breaks a law is refused, and for that law.
TEST(AggregatorLaws, RefuseWhatBreaksThem) {
  EXPECT_EQ(broken_law<subtraction>({1, 2}), "identity on the left");
  EXPECT_EQ(broken_law<mean>({1, 2}), "identity on the left");
  EXPECT_EQ(broken_law<sum_from_one>({1, 2}), "identity on the left");
  EXPECT_EQ(broken_law<first>({1, 2}), "commutativity");
  EXPECT_EQ(broken_law<distance>({1, 2, 5}), "associativity");
  EXPECT_EQ(broken_law<forgetful>({1, 2}), "combining in place");
}

}  // namespace
}  // namespace cairn::aggregator_test
