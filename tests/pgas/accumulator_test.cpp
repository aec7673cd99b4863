// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator.hpp>

#include <support/places.hpp>

namespace cairn::pgas::accumulator_test {
namespace {

// How many there are, the words among them, and the largest: a value of one's own.
struct summary {
  std::uint64_t count = 0;
  std::set<std::string> words;
  at_place<int> largest = maximum_at<int>::identity();
  friend bool operator==(const summary&, const summary&) = default;
};
struct summarise {
  using value_type = summary;
  static summary identity() { return {}; }
  static summary combine(const summary& a, const summary& b) {
    return {a.count + b.count, set_union<std::string>::combine(a.words, b.words),
            maximum_at<int>::combine(a.largest, b.largest)};
  }
  static void include(summary& sum, const std::string& word, int score) {
    ++sum.count;
    sum.largest = maximum_at<int>::combine(sum.largest, {score, word.size()});
    sum.words.insert(word);
  }
};
// A user's aggregator with nothing but the three members.
struct greatest_common_divisor {
  using value_type = std::uint64_t;
  static int identity() { return 0; }  // what converts to its values will do
  static std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); }
};

}  // namespace
}  // namespace cairn::pgas::accumulator_test

template <>
struct cairn::packing<cairn::pgas::accumulator_test::summary> {
  static void pack(std::vector<std::byte>& to, const pgas::accumulator_test::summary& s) {
    cairn::pack(to, s.count, s.words, s.largest);
  }
  static pgas::accumulator_test::summary unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<std::uint64_t>(from), cairn::unpack<std::set<std::string>>(from),
            cairn::unpack<at_place<int>>(from)};
  }
};

namespace cairn::pgas::accumulator_test {
namespace {

class Accumulator : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Accumulator, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

std::uint64_t draw(int round, rank_t r, std::uint64_t i) {
  return mix64(mix64(static_cast<std::uint64_t>(100 * round + r)) + i);
}
// How many values rank r has in a round: none on some ranks, and on all of them in round 1.
std::uint64_t num_values(int round, rank_t r) {
  return round == 1 || r % 3 == 2 ? 0 : 40 + draw(round, r, 0) % 60;
}
std::string word_of(std::uint64_t x) { return std::string(x % 7, 'a') + std::to_string(x % 11); }

// Accumulates add(acc, worker, x) for each x of each rank in three rounds, and compares with
// what fold(sum, x) makes of all of them serially.
template <class A, class Add, class Fold>
void expect_collects(world& w, Add add, Fold fold) {
  accumulator<A> acc(w);
  for (int round = 0; round < 3; ++round) {
    w.parallel_for(
        num_values(round, w.rank()),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto i = begin; i < end; ++i) add(acc, k, draw(round, w.rank(), i));
        },
        3);
    typename A::value_type expected = A::identity();
    for (rank_t r = 0; r < w.size(); ++r) {
      for (std::uint64_t i = 0; i < num_values(round, r); ++i) fold(expected, draw(round, r, i));
    }
    EXPECT_EQ(acc.collect(), expected) << "round " << round;
  }
  const typename A::value_type nothing = A::identity();
  EXPECT_EQ(acc.collect(), nothing) << "nothing since";
}

// For an aggregator of numbers: value(x) is what x adds.
template <class A, class Value>
void expect_combines(world& w, Value value) {
  expect_collects<A>(
      w, [&](auto& acc, worker_t k, std::uint64_t x) { acc.accumulate(k, value(x)); },
      [&](auto& sum, std::uint64_t x) { sum = A::combine(sum, value(x)); });
}

TEST_P(Accumulator, CombinesNumbersOfAllWorkersAndRanks) {
  GetParam().run([](world& w) {
    const auto number = [](std::uint64_t x) { return static_cast<std::int64_t>(x % 1000) - 500; };
    expect_combines<add<std::int64_t>>(w, number);
    expect_combines<minimum<std::int64_t>>(w, number);
    expect_combines<maximum<std::int64_t>>(w, number);
    const auto bits = [](std::uint64_t x) { return static_cast<std::uint32_t>(x) | 8u; };
    expect_combines<multiply<std::uint32_t>>(w, bits);
    expect_combines<bit_and<std::uint32_t>>(w, bits);
    expect_combines<bit_or<std::uint32_t>>(w, bits);
    expect_combines<bit_xor<std::uint32_t>>(w, bits);
    for (const std::uint64_t rare : {1, 2, 300}) {
      const auto truth = [rare](std::uint64_t x) { return x % rare == 0; };
      expect_combines<logical_and>(w, truth);
      expect_combines<logical_or>(w, truth);
      expect_combines<logical_xor>(w, truth);
    }
    const auto found = [&](std::uint64_t x) {
      return at_place<std::int64_t>{number(x), x / 1000 % 50};
    };
    expect_combines<minimum_at<std::int64_t>>(w, found);
    expect_combines<maximum_at<std::int64_t>>(w, found);
    expect_combines<greatest_common_divisor>(w, [](std::uint64_t x) { return x % 1000 * 6; });
  });
}

// Threads beside the workers run handlers of standing channels, too.
class ServedAccumulator : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Served, ServedAccumulator, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

TEST_P(ServedAccumulator, CombinesWhatHandlersOfStandingChannelsAdd) {
  GetParam().run([](world& w) {
    constexpr std::uint64_t each = 2'000;
    accumulator<add<std::uint64_t>> sum(w);
    std::atomic<std::uint64_t> handled = 0;
    am::channel<std::uint64_t> numbers(w,
                                       [&](worker_t k, std::span<const std::uint64_t> batch) {
                                         for (const auto x : batch) sum.accumulate(k, x);
                                         handled += batch.size();
                                       },
                                       {.kind = channel_kind::standing});
    w.barrier();
    for (std::uint64_t i = 0; i < each; ++i) {
      numbers.send(main_worker, (w.rank() + 1) % w.size(), i);
    }
    w.wait_until([&] { return handled == each; });
    EXPECT_EQ(sum.collect(), static_cast<std::uint64_t>(w.size()) * (each - 1) * each / 2);
  });
}

TEST_P(Accumulator, CombinesVectorsHistogramsAndSets) {
  GetParam().run([](world& w) {
    expect_combines<add_vectors<std::uint64_t>>(
        w, [](std::uint64_t x) { return std::vector<std::uint64_t>(x % 9, x % 5); });
    expect_combines<each_element<logical_or>>(
        w, [](std::uint64_t x) { return std::vector<bool>(x % 9, x % 50 == 0); });
    expect_combines<merge_histograms<std::uint32_t>>(w, [](std::uint64_t x) {
      return std::map<std::uint32_t, std::uint64_t>{{x % 13, 1}, {x % 3, 2}};
    });
    expect_combines<set_union<std::uint64_t>>(w, [](std::uint64_t x) {
      return std::set<std::uint64_t>{x % 100, x % 7};
    });
    expect_combines<bag_union<std::string>>(w, [](std::uint64_t x) {
      return std::multiset<std::string>{word_of(x), "each"};
    });
  });
}

TEST_P(Accumulator, TakesInOneElementAtATime) {
  GetParam().run([](world& w) {
    expect_collects<add_vectors<double>>(
        w, [](auto& acc, worker_t k, auto x) { acc.accumulate(k, x % 20, 0.5); },
        [](auto& sum, auto x) { add_vectors<double>::include(sum, x % 20, 0.5); });
    expect_collects<merge_histograms<std::string>>(
        w,
        [](auto& acc, worker_t k, auto x) {
          acc.accumulate(k, word_of(x));
          acc.accumulate(k, "each", 2);
        },
        [](auto& sum, auto x) { ++sum[word_of(x)], sum["each"] += 2; });
    expect_collects<set_union<std::string>>(
        w, [](auto& acc, worker_t k, auto x) { acc.accumulate(k, word_of(x)); },
        [](auto& all, auto x) { all.insert(word_of(x)); });
    expect_collects<bag_union<std::uint64_t>>(
        w, [](auto& acc, worker_t k, auto x) { acc.accumulate(k, x % 30); },
        [](auto& all, auto x) { all.insert(x % 30); });
    expect_collects<summarise>(
        w,
        [](auto& acc, worker_t k, auto x) {
          acc.accumulate(k, word_of(x), static_cast<int>(x % 99));
        },
        [](auto& sum, auto x) { summarise::include(sum, word_of(x), static_cast<int>(x % 99)); });
  });
}

// Handlers run on any worker, between chunks and while the epoch closes.
TEST_P(Accumulator, KeepsWhatHandlersAdd) {
  GetParam().run([](world& w) {
    accumulator<merge_histograms<rank_t>> letters(w);
    am::channel<rank_t> post(w, [&](worker_t k, std::span<const rank_t> batch) {
      for (const auto from : batch) letters.accumulate(k, from);
    });
    {
      am::epoch e(w);
      w.parallel_for(90, [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          post.send(k, static_cast<rank_t>(i) % w.size(), w.rank());
        }
      });
      e.close();
    }
    std::map<rank_t, std::uint64_t> expected;
    for (rank_t r = 0; r < w.size(); ++r) expected[r] = 90;
    EXPECT_EQ(letters.collect(), expected);
  });
}

// Larger than what a packet holds, from one rank; the others have nothing.
TEST_P(Accumulator, CollectsValuesLargerThanAPacket) {
  GetParam().run([](world& w) {
    accumulator<set_union<std::uint64_t>> all(w);
    accumulator<add_vectors<double>> sums(w);
    if (w.rank() == w.size() - 1) {
      const worker_t last{w.workers() - 1};
      for (std::uint64_t i = 0; i < 20'000; ++i) all.accumulate(last, i);
      sums.accumulate(main_worker, std::vector<double>(20'000, 0.5));
    }
    const auto found = all.collect();
    EXPECT_EQ(found.size(), 20'000u);
    EXPECT_EQ(*found.rbegin(), 19'999u);
    EXPECT_EQ(sums.collect(), std::vector<double>(20'000, 0.5));
  });
}

// In another order the last bits would differ on some rank.
TEST_P(Accumulator, GivesTheSameBitsOnEveryRank) {
  GetParam().run([](world& w) {
    accumulator<add_vectors<double>> sums(w);
    for (int round = 0; round < 3; ++round) {
      w.parallel_for(200, [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
          sums.accumulate(k, i % 4, 1.0 / static_cast<double>(1 + draw(round, w.rank(), i) % 9999));
        }
      });
      const auto mine = sums.collect();
      for (const auto& other : w.all_gather(mine)) EXPECT_EQ(other, mine);
    }
  });
}

// Handlers may still add to the partials: a contract violation, and the job ends.
TEST_P(Accumulator, RefusesToCollectWhileAnEpochIsOpen) {
  GetParam().run([](world& w) {
    accumulator<add<std::uint64_t>> sum(w);
    am::epoch e(w);
    sum.accumulate(main_worker, 1);
    EXPECT_THROW(static_cast<void>(sum.collect()), contract_violation);
    e.close();
    EXPECT_EQ(sum.collect(), static_cast<std::uint64_t>(w.size())) << "nothing was lost";
  });
  const auto unguarded = [](world& w) {
    accumulator<set_union<int>> all(w);
    am::epoch e(w);
    if (w.rank() == 0) static_cast<void>(all.collect());
    e.close();
  };
  EXPECT_THROW(GetParam().run(unguarded), contract_violation);
}

// The others do not wait for a rank that has failed.
TEST_P(Accumulator, CollectingBesideAFailedRankThrows) {
  const auto run = [&] {
    GetParam().run([](world& w) {
      accumulator<set_union<int>> all(w);
      all.accumulate(main_worker, w.rank());
      if (w.rank() == 0) throw std::runtime_error("rank 0 threw");
      static_cast<void>(all.collect());
      ADD_FAILURE() << "collected without rank 0";
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

}  // namespace
}  // namespace cairn::pgas::accumulator_test
