// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator_map.hpp>

#include <support/places.hpp>

namespace cairn::pgas::accumulator_map_of_values_test {
namespace {

/// The longest word, and how many were seen: neither trivially copyable nor comparable.
struct longest {
  std::string word;
  std::uint64_t seen = 0;
};
struct find_longest {
  using value_type = longest;
  static longest identity() { return {}; }
  static longest combine(const longest& a, const longest& b) {
    const bool first =
        a.word.size() != b.word.size() ? a.word.size() > b.word.size() : a.word < b.word;
    return {first ? a.word : b.word, a.seen + b.seen};
  }
};

}  // namespace
}  // namespace cairn::pgas::accumulator_map_of_values_test

template <>
struct cairn::packing<cairn::pgas::accumulator_map_of_values_test::longest> {
  static void pack(std::vector<std::byte>& to,
                   const pgas::accumulator_map_of_values_test::longest& x) {
    cairn::pack(to, x.word, x.seen);
  }
  static pgas::accumulator_map_of_values_test::longest unpack(std::span<const std::byte>& from) {
    auto word = cairn::unpack<std::string>(from);
    return {std::move(word), cairn::unpack<std::uint64_t>(from)};
  }
};

namespace cairn::pgas::accumulator_map_of_values_test {
namespace {

std::string word(random64& random) {
  return std::string(random.below(40), static_cast<char>('a' + random.below(3)));
}

// A value of one word, and values as something that can be compared.
void make(random64& random, std::map<std::string, std::uint64_t>& x) { x = {{word(random), 1}}; }
void make(random64& random, std::set<std::uint32_t>& x) {
  x = {static_cast<std::uint32_t>(random.below(20))};
}
void make(random64& random, longest& x) { x = {word(random), 1}; }
template <class Value>
const Value& comparable(const Value& x) {
  return x;
}
std::pair<std::string, std::uint64_t> comparable(const longest& x) { return {x.word, x.seen}; }

// Calls f(element, value) for what rank r adds in a round: much to a few elements, some to all.
template <class A>
void each_add(rank_t r, int round, std::uint64_t n, auto f) {
  auto random = random64(static_cast<std::uint64_t>(round)).stream(static_cast<std::uint64_t>(r));
  for (auto left = n == 0 ? 0 : random.below(400); left > 0; --left) {
    const auto id = random.below(random.below(2) == 0 ? std::min<std::uint64_t>(n, 3) : n);
    typename A::value_type x;
    make(random, x);
    f(id, x);
  }
}

template <class A>
void accumulate_values_and_judge(world& w, std::uint64_t n, const accumulator_options& opt) {
  using value = typename A::value_type;
  const partition partition(n, w.size());
  accumulator_map<A, std::uint32_t> sums(w, partition, opt);
  for (int round = 0; round < 2; ++round) {
    {
      am::epoch epoch(w);
      sums.accumulate(main_worker, [&](auto&& add) {
        each_add<A>(w.rank(), round, n, [&](std::uint64_t id, const value& x) {
          add(static_cast<std::uint32_t>(id), x);
        });
      });
      epoch.close();
    }
    std::vector<value> expected(n, A::identity());
    for (rank_t r = 0; r < w.size(); ++r) {
      each_add<A>(r, round, n, [&](std::uint64_t id, const value& x) {
        expected[id] = A::combine(expected[id], x);
      });
    }
    std::vector<int> times(partition.size(w.rank()));
    sums.collect([&](worker_t, std::uint64_t first, std::span<const value> totals) {
      for (std::size_t i = 0; i < totals.size(); ++i) {
        EXPECT_EQ(comparable(totals[i]), comparable(expected[first + i])) << first + i;
        ++times[first - partition.first(w.rank()) + i];
      }
    });
    for (const auto t : times) EXPECT_EQ(t, 1);
  }
}

class AccumulatorMapOfValues : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, AccumulatorMapOfValues,
                         ::testing::ValuesIn(support::all_places()), support::place_name);

TEST_P(AccumulatorMapOfValues, HoldsHistogramsSetsAndOnesOwn) {
  GetParam().run([](world& w) {
    const accumulator_options bins{.method = accumulation::bins, .bin_bytes = 200};
    const accumulator_options few{
        .method = accumulation::bins, .bin_bytes = 200, .max_remote_entries = 1};
    accumulate_values_and_judge<merge_histograms<std::string>>(w, 60, {});
    accumulate_values_and_judge<merge_histograms<std::string>>(w, 60, bins);
    accumulate_values_and_judge<merge_histograms<std::string>>(w, 0, bins);
    accumulate_values_and_judge<set_union<std::uint32_t>>(w, 60, {.reduce = false});
    accumulate_values_and_judge<set_union<std::uint32_t>>(w, 60, few);
    accumulate_values_and_judge<find_longest>(w, 60, {});
    accumulate_values_and_judge<find_longest>(w, 60, bins);
  });
}

TEST_P(AccumulatorMapOfValues, IsRightWithTinyBuffers) {
  GetParam().run(
      [](world& w) { accumulate_values_and_judge<merge_histograms<std::string>>(w, 50, {}); },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100});
}

}  // namespace
}  // namespace cairn::pgas::accumulator_map_of_values_test
