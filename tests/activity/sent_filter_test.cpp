// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::activity::sent_filter_test {
namespace {

using obs::counter;
using map_of_ids = pgas::vertex_map<std::uint32_t>;

constexpr std::uint32_t nobody = no_vertex<std::uint32_t>;

struct order {
  std::uint64_t id;
  std::uint32_t value;
};

struct lower_to {
  using message = order;
  map_of_ids& map;
  auto cell(const order& m) const { return map.at(m.id); }
  bool wanted(std::uint32_t x, const order& m) const { return m.value < x; }
  bool attempt(auto x, const order& m) const { return x.lower(m.value) > m.value; }
};
struct lower_for_good : lower_to {
  static constexpr bool permanent = true;
};

// What of `values`, sent one after the other to element 7, passes.
template <class Op>
std::vector<std::uint32_t> passing(sent_filter<Op>& filter, const Op& op,
                                   const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> passed;
  for (const auto x : values) {
    if (filter.passes(op, op.cell({7, x}), {7, x})) passed.push_back(x);
  }
  return passed;
}

class SentFilter : public ::testing::Test {
 protected:
  using values = std::vector<std::uint32_t>;
  world w;
  map_of_ids map{w, {1000, 1}, nobody};
  lower_to op{map};
};

TEST_F(SentFilter, DropsWhatTheMirrorNoLongerWants) {
  sent_filter<lower_to> filter(1 << 20);
  filter.enter(1);
  EXPECT_EQ(passing(filter, op, {9, 9, 12, 5, 8, 5, 4, nobody}), (values{9, 5, 4}));
  EXPECT_TRUE(filter.passes(op, op.cell({8, 9}), {8, 9}));  // another element
  EXPECT_EQ(map.load(7), nobody);                           // no element has been touched
}

TEST_F(SentFilter, ForgetsInANewEpoch) {
  sent_filter<lower_to> filter(1 << 20);
  filter.enter(1);
  EXPECT_EQ(passing(filter, op, {5, 6}), (values{5}));
  filter.enter(1);  // the next chunk of the same epoch
  EXPECT_EQ(passing(filter, op, {6}), values{});
  filter.enter(2);
  EXPECT_EQ(passing(filter, op, {6}), values{6});
}

TEST_F(SentFilter, OfAPermanentOperatorRemembersForItsLife) {
  const lower_for_good for_good{{map}};
  sent_filter<lower_for_good> filter(1 << 20);
  filter.enter(1);
  EXPECT_EQ(passing(filter, for_good, {5, 6}), (values{5}));
  filter.enter(2);
  EXPECT_EQ(passing(filter, for_good, {6, 4}), values{4});
}

// It notes which mirrors it used only up to a bound; beyond it must forget them all the same.
TEST_F(SentFilter, ForgetsHoweverManyElementsItHasSeen) {
  sent_filter<lower_to> filter(1 << 20);
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    filter.enter(epoch);
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t id = 0; id < map.size(); ++id) {
        EXPECT_EQ(filter.passes(op, op.cell({id, 3}), {id, 3}), round == 0) << epoch << " " << id;
      }
    }
  }
}

TEST_F(SentFilter, WithFewMirrorsOnlyPassesMore) {
  for (const std::size_t entries : {1, 2, 7, 64}) {
    sent_filter<lower_to> filter(entries);
    EXPECT_TRUE(filter.enabled());
    filter.enter(1);
    std::vector<std::uint32_t> min(map.size(), nobody);
    random64 random(entries);
    int dropped = 0;
    for (int i = 0; i < 20'000; ++i) {
      const order m{random.below(entries < 64 ? 3 : map.size()),
                    static_cast<std::uint32_t>(random.below(100))};
      if (filter.passes(op, op.cell(m), m)) {
        min[m.id] = std::min(min[m.id], m.value);
      } else {
        ++dropped;
        EXPECT_GE(m.value, min[m.id]);  // what it dropped had no effect to come
      }
    }
    EXPECT_GT(dropped, 0) << entries;
  }
  EXPECT_FALSE(sent_filter<lower_to>(0).enabled());
}

TEST_F(SentFilter, SharedBySeveralDropsWhatAnyOfThemHasSent) {
  const lower_for_good for_good{{map}};
  values mirrors(map.size(), nobody);
  sent_filter<lower_for_good> one(1 << 20), other(1 << 20);
  EXPECT_FALSE(one.shares());
  one.share(mirrors);
  other.share(mirrors);
  EXPECT_TRUE(one.shares() && one.enabled());
  EXPECT_EQ(passing(one, for_good, {9, 5, 6}), (values{9, 5}));
  EXPECT_EQ(passing(other, for_good, {9, 5, 4}), values{4});
  one.enter(2);
  EXPECT_EQ(passing(one, for_good, {4, 3}), values{3});
}

struct traffic {
  std::uint64_t filtered = 0, bytes = 0;
  std::vector<std::uint32_t> values;
};

template <class Op = lower_to>
traffic lower_everywhere(bool filter, std::size_t entries, int machines = 4) {
  traffic t;
  run_simulated({.ranks = 4, .workers = 2, .seed = 5, .machines = machines},
                {.filter_entries = entries}, [&](world& w) {
                  map_of_ids map(w, {100, w.size()}, nobody);
                  executor<Op> op(w, Op{map}, {.sent_filter = filter});
                  for (int round = 0; round < 3; ++round) {
                    am::epoch e(w);
                    w.parallel_for(1000, [&](worker_t k, std::size_t begin, std::size_t end) {
                      op.spawn(k, [&](auto& send) {
                        for (auto i = begin; i < end; ++i) {
                          auto random = random64(i).stream(static_cast<std::uint64_t>(w.rank()));
                          send({random.below(100), static_cast<std::uint32_t>(random.below(500))});
                        }
                      });
                    });
                    e.close();
                  }
                  t.filtered += w.counters().total(counter::messages_filtered);
                  t.bytes += w.counters().total(counter::bytes_sent);
                  t.values = w.all_gather_values<std::uint32_t>(map.local());
                });
  return t;
}

TEST(SentFilterOnRanks, ChangesNoResultAndSparesMessages) {
  const auto without = lower_everywhere(false, 1 << 20);
  EXPECT_EQ(without.filtered, 0u);
  EXPECT_EQ(lower_everywhere(true, 0).filtered, 0u);
  for (const std::size_t entries : {2, 64, 1 << 20}) {
    const auto with = lower_everywhere(true, entries);
    EXPECT_EQ(with.values, without.values) << entries;
    EXPECT_GT(with.filtered, 0u) << entries;
    EXPECT_LT(with.bytes, without.bytes) << entries;
  }
}

// The ranks of a machine share their filter if refusals are permanent, and it fits.
TEST(SentFilterOnRanks, OfAMachineSparesMoreMessagesThanEachAlone) {
  const auto without = lower_everywhere<lower_for_good>(false, 1 << 20);
  const auto apart = lower_everywhere<lower_for_good>(true, 1 << 20, 4);
  std::uint64_t sent = apart.bytes;
  for (const int machines : {2, 1}) {
    const auto together = lower_everywhere<lower_for_good>(true, 1 << 20, machines);
    EXPECT_EQ(together.values, without.values) << machines;
    EXPECT_LT(together.bytes, sent) << machines;
    sent = together.bytes;
  }
  EXPECT_EQ(lower_everywhere(true, 1 << 20, 1).values, without.values);
  EXPECT_EQ(lower_everywhere<lower_for_good>(true, 3, 1).values, without.values);
}

// The number of messages that filters dropped when 8 ranks send to the same elements.
std::uint64_t lower_through_hops(routing scheme, int machines, std::uint64_t seed) {
  std::uint64_t filtered = 0;
  const auto ids = [](auto&& f) {
    for (std::uint64_t i = 0; i < 1000; ++i) f(random64(i).below(1000));
  };
  run_simulated(
      {.ranks = 8, .workers = 1, .seed = seed, .machines = machines},
      {.coalesce_bytes = 64, .routing = scheme}, [&](world& w) {
        map_of_ids map(w, {1000, w.size()}, nobody);
        executor<lower_for_good> op(w, lower_for_good{{map}});
        am::epoch e(w);
        op.spawn(main_worker, [&](auto& send) {
          const auto value = static_cast<std::uint32_t>(w.rank() + 1);
          ids([&](std::uint64_t id) { send({id, value}); });
        });
        e.close();
        ids([&](std::uint64_t id) { EXPECT_TRUE(!map.owns(id) || map.load(id) == 1) << machines; });
        filtered += w.counters().total(counter::messages_filtered);
      });
  return filtered;
}

// A message at a hop has changed the mirrors that its sender shares already.
TEST(SentFilterOnRanks, OfAMachineLosesNothingAtHops) {
  for (const auto scheme : {routing::direct, routing::grid, routing::hypercube, routing::machine}) {
    for (const int machines : {1, 2, 4, 8}) {
      for (std::uint64_t seed = 1; seed <= support::few_when_sanitized(10); ++seed) {
        EXPECT_GT(lower_through_hops(scheme, machines, seed), 0u);
      }
    }
  }
}

// A hop drops what came from other machines before.
TEST(SentFilterOnRanks, OfAMachineAlsoFiltersAtHops) {
  std::uint64_t direct = 0, through_hops = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    direct += lower_through_hops(routing::direct, 4, seed);
    through_hops += lower_through_hops(routing::hypercube, 4, seed);
  }
  EXPECT_GT(through_hops, direct);
}

// Elements that are reset before each epoch: an operator that fails in one may succeed in the next.
struct win_for_now {
  using message = order;
  map_of_ids& map;
  std::uint64_t& wins;
  auto cell(const order& m) const { return map.at(m.id); }
  bool wanted(std::uint32_t x, const order&) const { return x == nobody; }
  bool attempt(auto x, const order& m) const { return x.claim(nobody, m.value) == nobody; }
  void after(const order&) { ++wins; }
};
struct win_said_to_be_permanent : win_for_now {
  static constexpr bool permanent = true;
};

struct win_once : win_for_now {
  static constexpr bool once = true;
};

template <class Op>
std::uint64_t wins_in_three_epochs() {
  std::uint64_t all = 0;
  support::on_simulated_ranks(2, 1, 1, [&](world& w) {
    std::uint64_t wins = 0;
    map_of_ids map(w, {10, w.size()}, nobody);
    executor<Op> op(w, Op{map, wins});
    for (int round = 0; round < 3; ++round) {
      std::fill(map.local().begin(), map.local().end(), nobody);
      am::epoch e(w);
      if (w.rank() == 0) {
        op.spawn(main_worker, [](auto& send) {
          for (std::uint64_t id = 0; id < 10; ++id) send({id, 1});
        });
      }
      e.close();
    }
    all += wins;
  });
  return all;
}

TEST(SentFilterOnRanks, LetsMessagesOfANewEpochPass) {
  EXPECT_EQ(wins_in_three_epochs<win_for_now>(), 30u);
}

// The broken twin: a promise of permanence that does not hold costs messages that were wanted.
TEST(SentFilterOnRanks, LosesMessagesOfAFalsePromiseOfPermanence) {
  EXPECT_EQ(wins_in_three_epochs<win_said_to_be_permanent>(), 15u + 5u);
}

TEST(SentFilterOnRanks, LosesMessagesOfAFalsePromiseOfOnce) {
  EXPECT_EQ(wins_in_three_epochs<win_once>(), 15u + 5u);
}

// A mark per element, and mirrors where there are too few entries for the marks. Both drop what
// was sent before to the same element; to 1,000 elements by 4 entries, only some of it.
TEST(SentFilterOnce, PassesTheFirstMessageToEachElement) {
  world w;
  map_of_ids map(w, {1000, 1}, nobody);
  std::uint64_t wins = 0;
  const win_once op{{map, wins}};
  for (const std::size_t entries : {4, 124, 125, 1000}) {
    sent_filter<win_once> filter(entries);
    std::uint64_t passed = 0;
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t id = 0; id < 1000; ++id) {
        const order m{id, 1};
        passed += filter.passes(op, op.cell(m), m) ? 1 : 0;
        EXPECT_FALSE(filter.passes(op, op.cell(m), m));
      }
    }
    if (entries >= 125) {
      EXPECT_EQ(passed, 1000u) << entries;
    } else {
      EXPECT_GT(passed, 1000u) << entries;
    }
  }
}

}  // namespace
}  // namespace cairn::activity::sent_filter_test
