// SPDX-License-Identifier: Apache-2.0
#include <activity/all_settings.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::executor_test {
namespace {

using obs::counter;

constexpr std::uint32_t nobody = no_vertex<std::uint32_t>;

/// A message of these tests: `value` for the element `id`.
struct order {
  std::uint64_t id;
  std::uint32_t value;
};

/// How often operators on each element took effect, on any worker.
using tally = std::vector<std::atomic<std::uint32_t>>;

template <class T>
struct operator_on {
  using message = order;
  pgas::vertex_map<T>& map;
  tally& effects;
  auto cell(const order& m) const { return map.at(m.id); }
  void after(const order& m) { ++effects[m.id]; }
};

struct claim_first : operator_on<std::uint32_t> {  // may fail
  bool wanted(std::uint32_t x, const order&) const { return x == nobody; }
  bool attempt(auto x, const order& m) const { return x.claim(nobody, m.value) == nobody; }
};
struct lower_to : operator_on<std::uint32_t> {  // may fail
  bool wanted(std::uint32_t x, const order& m) const { return m.value < x; }
  bool attempt(auto x, const order& m) const { return x.lower(m.value) > m.value; }
};
struct claim_prefiltered : claim_first {
  static constexpr bool prefiltered = true;
};
struct lower_prefiltered : lower_to {
  static constexpr bool prefiltered = true;
};
template <class T>
struct add_to : operator_on<T> {  // always succeeds
  bool wanted(const T&, const order&) const { return true; }
  void attempt(auto x, const order& m) const { x.add(static_cast<T>(m.value)); }
};
struct replace : operator_on<std::uint32_t> {  // always succeeds
  bool wanted(std::uint32_t, const order&) const { return true; }
  void attempt(auto x, const order& m) const { x.exchange(m.value); }
};
struct add_if_even : operator_on<std::uint32_t> {  // decides first, then writes
  bool wanted(std::uint32_t, const order&) const { return true; }
  bool attempt(auto x, const order& m) const {
    if (m.value % 2 != 0) return false;
    x.add(m.value);
    return true;
  }
};

class Executor : public ::testing::TestWithParam<support::place> {
 protected:
  static constexpr std::uint64_t elements = 40, orders = 200;

  // The i-th message of rank r.
  static order nth(rank_t r, std::uint64_t i) {
    auto random = random64(static_cast<std::uint64_t>(r) + 1).stream(i);
    // Half of them to three elements, so that groups meet the same cell again.
    const auto id = random.below(2) == 0 ? random.below(3) : random.below(elements);
    return {id, static_cast<std::uint32_t>(random.below(1000))};
  }

  template <class Op>
  struct outcome {
    std::vector<cell_value_t<Op>> values;
    std::vector<std::uint32_t> effects;
    std::uint64_t failed;  // operators, on all ranks
  };

  // Sends all messages of all ranks through one operator, half of them in a loop of its own; what
  // the elements are then.
  template <class Op>
  static outcome<Op> send_all(world& w, const options& opt, cell_value_t<Op> initial) {
    const pgas::partition partition(elements, w.size());
    pgas::vertex_map<cell_value_t<Op>> map(w, partition, initial);
    tally effects(elements);
    const auto failed_before = w.counters().total(counter::operators_failed);
    {
      executor<Op> op(w, Op{{map, effects}}, opt);
      am::epoch e(w);
      const bool fills_sieve =
          opt.mechanism == mechanism::plain || opt.mechanism == mechanism::atomics;
      w.parallel_for(
          orders,
          [&](worker_t k, std::size_t begin, std::size_t end) {
            op.spawn(k, [&](auto& send) {
              const auto middle = (begin + end) / 2;
              {
                typename std::remove_reference_t<decltype(send)>::in_loop to(send);
                for (auto i = begin; i < middle; ++i) to(nth(w.rank(), i));
              }
              for (auto i = middle; i < end; ++i) send(nth(w.rank(), i));
            });
          },
          fills_sieve ? orders : 13);
      e.close();
    }
    std::vector<std::uint32_t> own(
        effects.begin() + static_cast<std::ptrdiff_t>(map.first()),
        effects.begin() + static_cast<std::ptrdiff_t>(map.first() + map.local().size()));
    return {w.all_gather_values<cell_value_t<Op>>(map.local()),
            w.all_gather_values<std::uint32_t>(own),
            w.sum(w.counters().total(counter::operators_failed) - failed_before)};
  }

  // Calls check(outcome, messages by element) for each setting.
  template <class Op, class Check>
  void in_all_settings(cell_value_t<Op> initial, Check&& check) {
    const auto settings = all_settings(GetParam().workers);
    // On threads a sample: what they add is other interleavings, not other paths.
    const std::size_t stride = GetParam().simulated() ? 1 : 5;
    GetParam().run([&](world& w) {
      std::vector<std::vector<std::uint32_t>> sent(elements);
      for (rank_t r = 0; r < w.size(); ++r) {
        for (std::uint64_t i = 0; i < orders; ++i) sent[nth(r, i).id].push_back(nth(r, i).value);
      }
      for (std::size_t i = GetParam().workers - 1; i < settings.size(); i += stride) {
        SCOPED_TRACE(settings[i].name);
        const auto got = send_all<Op>(w, settings[i].options, initial);
        for (std::uint64_t id = 0; id < elements; ++id) {
          check(got.values[id], got.effects[id], sent[id]);
        }
        if constexpr (std::is_same_v<Op, add_if_even>) {  // all others may be unwanted
          const auto took = std::accumulate(got.effects.begin(), got.effects.end(), 0u);
          EXPECT_EQ(got.failed + took, orders * static_cast<std::uint64_t>(w.size()));
        }
      }
    });
  }
};

using values_sent = std::vector<std::uint32_t>;

std::uint32_t sum_of(const values_sent& sent) {
  std::uint32_t sum = 0;
  for (const auto x : sent) sum += x;
  return sum;
}
bool among(const values_sent& sent, std::uint32_t x) {
  return std::find(sent.begin(), sent.end(), x) != sent.end();
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Executor, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Executor, ClaimIsWonOnceByOneOfTheMessages) {
  const auto check = [](std::uint32_t x, std::uint32_t effects, const values_sent& sent) {
    EXPECT_EQ(effects, sent.empty() ? 0u : 1u);
    EXPECT_TRUE(sent.empty() ? x == nobody : among(sent, x)) << x;
  };
  in_all_settings<claim_first>(nobody, check);
  in_all_settings<claim_prefiltered>(nobody, check);
}

TEST_P(Executor, LowerEndsAtTheLeast) {
  const auto check = [](std::uint32_t x, std::uint32_t effects, const values_sent& sent) {
    EXPECT_EQ(x, sent.empty() ? nobody : *std::min_element(sent.begin(), sent.end()));
    EXPECT_LE(effects, sent.size());
    EXPECT_EQ(effects == 0, sent.empty());
  };
  in_all_settings<lower_to>(nobody, check);
  in_all_settings<lower_prefiltered>(nobody, check);
}

TEST_P(Executor, AddLosesNothing) {
  const auto check = [](auto x, std::uint32_t effects, const values_sent& sent) {
    EXPECT_EQ(x, static_cast<decltype(x)>(sum_of(sent)));
    EXPECT_EQ(effects, sent.size());
  };
  in_all_settings<add_to<std::uint64_t>>(0, check);
  in_all_settings<add_to<std::uint8_t>>(0, check);
  in_all_settings<add_to<double>>(0, check);
}

TEST_P(Executor, ExchangeLeavesOneOfTheMessages) {
  in_all_settings<replace>(nobody,
                           [](std::uint32_t x, std::uint32_t effects, const values_sent& sent) {
                             EXPECT_TRUE(sent.empty() ? x == nobody : among(sent, x)) << x;
                             EXPECT_EQ(effects, sent.size());
                           });
}

TEST_P(Executor, AfterRunsOnlyForWhatTookEffect) {
  in_all_settings<add_if_even>(0, [](std::uint32_t x, std::uint32_t effects, values_sent sent) {
    std::erase_if(sent, [](std::uint32_t v) { return v % 2 != 0; });
    EXPECT_EQ(x, sum_of(sent));
    EXPECT_EQ(effects, sent.size());
  });
}

/// Distances in a graph in which v leads to two vertices: a vertex that gets closer tells them.
struct spread {
  using message = order;
  static constexpr std::uint64_t n = 300;
  pgas::vertex_map<std::uint32_t>& map;
  std::atomic<int>& strange_workers;

  static std::array<std::uint64_t, 2> next(std::uint64_t v) { return {mix64(v) % n, (v + 1) % n}; }
  auto cell(const order& m) const { return map.at(m.id); }
  bool wanted(std::uint32_t x, const order& m) const { return m.value < x; }
  bool attempt(auto x, const order& m) const { return x.lower(m.value) > m.value; }
  void after(const order& m, auto& at) {
    if (at.worker() < 0) ++strange_workers;
    for (const auto v : next(m.id)) at({v, m.value + 1});
  }
};

struct spread_sent : spread {};
struct spread_prefiltered : spread {
  static constexpr bool prefiltered = true;
};

template <class Op>
void expect_spread(const support::place& where) {
  std::vector<std::uint32_t> expected(spread::n, nobody);
  std::vector<std::uint64_t> level{0};
  for (std::uint32_t d = 0; !level.empty(); ++d) {
    std::vector<std::uint64_t> below;
    for (const auto v : level) {
      if (expected[v] <= d) continue;
      expected[v] = d;
      for (const auto u : spread::next(v)) below.push_back(u);
    }
    level = std::move(below);
  }
  const auto settings = all_settings(where.workers);
  where.run([&](world& w) {
    for (std::size_t i = 0; i < settings.size(); i += 4) {
      SCOPED_TRACE(settings[i].name);
      pgas::vertex_map<std::uint32_t> map(w, {spread::n, w.size()}, nobody);
      std::atomic<int> strange_workers = 0;
      executor<Op> op(w, Op{{map, strange_workers}}, settings[i].options);
      am::epoch e(w);
      if (w.rank() == w.size() - 1) op.spawn(main_worker, [](auto& send) { send({0, 0}); });
      e.close();
      EXPECT_EQ(w.all_gather_values<std::uint32_t>(map.local()), expected);
      EXPECT_EQ(strange_workers, 0);
    }
  });
}

TEST_P(Executor, AfterMaySendOn) {
  expect_spread<spread_sent>(GetParam());
  expect_spread<spread_prefiltered>(GetParam());
}

// Notes the order in which its messages run.
struct note_order {
  using message = order;
  pgas::vertex_map<std::uint32_t>& map;
  std::vector<std::uint32_t>& ran;
  static bool before(const order& a, const order& b) { return a.value < b.value; }
  auto cell(const order& m) const { return map.at(m.id); }
  void attempt(auto x, const order& m) const { x.exchange(m.value); }
  void after(const order& m) { ran.push_back(m.value); }
};

TEST(SortedBuffers, RunInTheOrderOfTheOperatorIfTheOptionsSort) {
  for (const bool sorts : {false, true}) {
    support::on_ranks(2, 1, [&](world& w) {
      pgas::vertex_map<std::uint32_t> map(w, pgas::partition(2, 2), 0);
      std::vector<std::uint32_t> ran;
      options opt{.mechanism = mechanism::plain};
      opt.sort_received = sorts;
      executor notes(w, note_order{map, ran}, opt);
      am::epoch e(w);
      if (w.rank() == 0) {
        notes.spawn(main_worker, [](auto& send) {
          for (const std::uint32_t x : {5, 1, 4, 2, 3}) send({1, x});  // in one buffer
        });
      }
      e.close();
      if (w.rank() == 0) return;
      EXPECT_EQ(ran, sorts ? (std::vector<std::uint32_t>{1, 2, 3, 4, 5})
                           : (std::vector<std::uint32_t>{5, 1, 4, 2, 3}));
    });
  }
}

TEST(ExecutorContract, SpawningNeedsAnOpenEpochAlsoOnOneRank) {
  world w;
  pgas::vertex_map<std::uint32_t> map(w, pgas::partition(4, 1), nobody);
  tally effects(4);
  executor first(w, claim_first{{map, effects}});
  EXPECT_THROW(first.spawn(main_worker, [](auto& send) { send({0, 1}); }), contract_violation);
  EXPECT_EQ(map.load(0), nobody);
}

// A rank with one worker changes its elements without atomics, and has no lane for another thread.
TEST(ExecutorContract, TheProgressThreadSpawnsNothing) {
  support::place served{support::place::network::simulated, 2, 1};
  served.progress = progress_style::thread;
  served.run([](world& w) {
    pgas::vertex_map<std::uint32_t> map(w, pgas::partition(4, w.size()), nobody);
    tally effects(4);
    executor first(w, claim_first{{map, effects}});
    am::epoch e(w);
    const worker_t beside{w.workers()};
    ASSERT_LT(beside, w.handling_threads());
    EXPECT_THROW(first.spawn(beside, [](auto& send) { send({0, 1}); }), contract_violation);
    e.close();
  });
}

}  // namespace
}  // namespace cairn::activity::executor_test
