// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>

namespace cairn::packing_test {
namespace {

struct point {
  int x = 0;
  double y = 0;
  friend bool operator==(const point&, const point&) = default;
};
struct summary {
  std::set<std::string> names;
  std::uint64_t total = 0;
  friend bool operator==(const summary&, const summary&) = default;
};
struct without_packing {
  std::vector<int> values;
};
struct less_by_last {
  bool operator()(int a, int b) const { return a % 10 < b % 10; }
};
class at_least_one {  // no default
 public:
  explicit at_least_one(int n) : n_(n) {}
  friend bool operator==(const at_least_one&, const at_least_one&) = default;

 private:
  int n_;
};
// Its bytes would do, but it travels by its own packing.
struct negated {
  int x = 0;
  friend bool operator==(const negated&, const negated&) = default;
};

}  // namespace
}  // namespace cairn::packing_test

template <>
struct cairn::packing<cairn::packing_test::summary> {
  static void pack(std::vector<std::byte>& to, const packing_test::summary& s) {
    cairn::pack(to, s.names, s.total);
  }
  static packing_test::summary unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<std::set<std::string>>(from), cairn::unpack<std::uint64_t>(from)};
  }
};
template <>
struct cairn::packing<cairn::packing_test::negated> {
  static void pack(std::vector<std::byte>& to, const packing_test::negated& n) {
    cairn::pack(to, -n.x);
  }
  static packing_test::negated unpack(std::span<const std::byte>& from) {
    return {-cairn::unpack<int>(from)};
  }
};

namespace cairn::packing_test {
namespace {

static_assert(packable<int> && packable<point> && packable<std::optional<int>>);
static_assert(packable<std::map<std::string, std::vector<std::pair<int, std::string>>>>);
static_assert(packable<summary> && packable<std::vector<summary>>);
static_assert(!packable<without_packing> && !packable<std::vector<without_packing>>);
static_assert(!packable<std::pair<int, without_packing>> && !packable<std::tuple<without_packing>>);
static_assert(!packable<std::string_view> && !packable<std::span<const int>> &&
              !packable<std::set<std::string_view>>);

template <class T>
void expect_returns(const T& value, std::size_t bytes) {
  const auto sent = packed(value);
  EXPECT_EQ(sent.size(), bytes);
  EXPECT_EQ(unpacked<T>(sent), value);
}

TEST(Packing, ReturnsWhatWasPacked) {
  expect_returns(7, 4);
  expect_returns(true, 1);
  expect_returns(point{3, 0.5}, sizeof(point));
  expect_returns(at_least_one(3), 4);
  expect_returns(std::array{1, 2, 3}, 12);
  expect_returns(std::pair{1, std::string("one")}, 4 + 8 + 3);
  expect_returns(std::tuple{std::string(), 2, std::string("two")}, 8 + 4 + 8 + 3);
  expect_returns(std::vector<std::uint16_t>{}, 8);
  expect_returns(std::vector<std::uint16_t>{1, 2, 0xffff}, 8 + 6);
  expect_returns(std::vector<bool>{true, false, true}, 8 + 3);
  expect_returns(std::vector<at_least_one>{at_least_one(1), at_least_one(2)}, 8 + 8);
  expect_returns(std::deque<int>{1, 2}, 8 + 8);
  expect_returns(std::string("with\0zero", 9), 8 + 9);
  expect_returns(std::set<int>{3, 1, 2}, 8 + 12);
  expect_returns(std::set<int, less_by_last>{19, 21}, 8 + 8);
  expect_returns(std::multiset<int>{3, 1, 3}, 8 + 12);
  expect_returns(std::map<std::string, std::uint64_t>{{"a", 1}, {"bc", 2}}, 8 + 2 * (8 + 8) + 3);
  expect_returns(std::unordered_map<int, double>{{1, 0.5}, {2, 0.25}}, 8 + 2 * 12);
  expect_returns(std::vector<std::vector<int>>{{}, {1}, {2, 3}}, 8 + 3 * 8 + 12);
}

TEST(Packing, IsYourOwnIfYouSpecialiseIt) {
  const summary s{{"a", "b"}, 12};
  expect_returns(s, 8 + 2 * 9 + 8);
  expect_returns(std::vector{s, summary{}, s}, 8 + 2 * 34 + 16);
  expect_returns(std::vector{negated{1}, negated{-2}}, 8 + 8);
  EXPECT_EQ(packed(negated{5}), packed(-5));
  EXPECT_EQ(packed(std::vector{negated{5}}), packed(std::vector{-5}));
}

TEST(Packing, ValuesFollowEachOther) {
  std::vector<std::byte> bytes;
  pack(bytes, 1, std::string("two"));
  pack(bytes, std::set<int>{3});
  std::span<const std::byte> from(bytes);
  EXPECT_EQ(unpack<int>(from), 1);
  EXPECT_EQ(unpack<std::string>(from), "two");
  EXPECT_EQ(unpack<std::set<int>>(from), std::set<int>{3});
  EXPECT_TRUE(from.empty());
}

// Bytes of another type, or cut: never more is read than there is.
TEST(Packing, RefusesBytesThatAreNotOneValue) {
  const auto refuses = [](const auto& value) {
    using type = std::remove_cvref_t<decltype(value)>;
    auto bytes = packed(value);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::span<const std::byte> some(bytes.data(), size);
      EXPECT_THROW(static_cast<void>(unpacked<type>(some)), contract_violation) << size;
    }
    bytes.push_back({});
    EXPECT_THROW(static_cast<void>(unpacked<type>(bytes)), contract_violation);
  };
  refuses(1.5);
  refuses(std::vector<int>{1, 2});
  refuses(std::set<std::string>{"a", "bc"});
  refuses(std::map<int, std::vector<bool>>{{1, {true}}, {2, {}}});
  for (const auto size : {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{1} << 62}) {
    EXPECT_THROW(static_cast<void>(unpacked<std::vector<double>>(packed(size))),
                 contract_violation);
    EXPECT_THROW(static_cast<void>(unpacked<std::set<double>>(packed(size))), contract_violation);
  }
}

}  // namespace
}  // namespace cairn::packing_test
