// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/dtx/executor.hpp>

#include <support/num_schedules.hpp>
#include <support/operator_transfers.hpp>
#include <support/places.hpp>
#include <support/serializability.hpp>

namespace cairn::dtx::executor_test {
namespace {

using activity::mechanism;
using obs::counter;
using support::draw_of;
using support::transfer_by_operators;

class Executor : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Executor, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Executor, ConservesMoneyAndAnswersTheSender) {
  GetParam().run([&](world& w) {
    std::uint64_t seed = 0;
    for (const auto how : {mechanism::automatic, mechanism::htm, mechanism::locks,
                           mechanism::one_lock, mechanism::stm}) {
      SCOPED_TRACE(activity::name(how));
      EXPECT_EQ(transfer_by_operators(w, {.mechanism = how, .seed = ++seed}), "");
    }
    if (w.size() == 1) {
      EXPECT_EQ(w.counters().total(counter::dtx_commits), 0u) << "own elements need no claims";
    }
  });
}

// Joins two trees at their roots, or climbs one step and tries again: boruvka's hooking.
struct hook {
  struct message {
    std::uint64_t a, b;
  };
  struct above {
    std::uint64_t a, b;
  };
  const owned_vertex_map<std::uint64_t>& parent;
  std::atomic<std::uint64_t>& joined;

  void elements(const message& m, auto&& each) const {
    each(parent.at(m.a));
    each(parent.at(m.b));
  }
  activity::outcome<above> attempt(auto& tx, const message& m) const {
    const above now{tx.read(parent, m.a), tx.read(parent, m.b)};
    if (now.a != m.a || now.b != m.b || m.a == m.b) return {false, now};
    tx.write(parent, std::max(m.a, m.b), std::min(m.a, m.b));
    return {true, now};
  }
  void answer(const message&, const activity::outcome<above>& found, auto& at) {
    joined += found.done ? 1 : 0;
    if (!found.done && found.value.a != found.value.b) at({found.value.a, found.value.b});
  }
};

TEST_P(Executor, JoinsTreesAsOneRankWould) {
  GetParam().run([](world& w) {
    const std::uint64_t n = 12 * static_cast<std::uint64_t>(w.size()), edges = 14;
    owned_vertex_map<std::uint64_t> parent(w, {n, w.size()}, 0);
    std::iota(parent.local().begin(), parent.local().end(), parent.first());
    std::atomic<std::uint64_t> joined = 0;
    {
      activity::domain data(w);
      executor hooks(data, hook{parent, joined}, {.grain = 5}, parent);
      am::epoch e(w);
      w.parallel_for(
          edges,
          [&](worker_t k, std::size_t begin, std::size_t end) {
            hooks.spawn(k, [&](auto& send) {
              for (auto i = begin; i < end; ++i) {
                auto draw = draw_of(w, 3, i);
                const auto a = draw.below(n);
                send({a, draw.below(n)});
              }
            });
          },
          4);
      e.close();
    }
    // The same edges, one after another.
    std::vector<std::uint64_t> root(n);
    std::iota(root.begin(), root.end(), 0);
    std::uint64_t trees = n;
    for (std::uint64_t i = 0; i < edges * static_cast<std::uint64_t>(w.size()); ++i) {
      auto draw = random64(3).stream(i);
      const auto a = root[draw.below(n)], b = root[draw.below(n)];
      trees -= a != b ? 1 : 0;
      std::replace(root.begin(), root.end(), std::max(a, b), std::min(a, b));
    }
    const auto all = w.all_gather_values<std::uint64_t>(parent.local());
    EXPECT_EQ(w.sum(joined.load()), n - trees);
    for (std::uint64_t v = 0; v < n; ++v) {
      auto r = v;
      while (all[r] != r) r = all[r];
      EXPECT_EQ(r, root[v]) << v;
    }
  });
}

// Reads two cells and writes the first, sometimes both; says what it found.
struct recording {
  struct message {
    std::uint64_t a, b;
    std::uint32_t number;
    std::uint32_t writes_both;
  };
  struct found {
    std::uint64_t a, b;
  };
  struct record {
    message m;
    found result;
  };
  const owned_vertex_map<std::uint64_t>& cells;
  task::per_worker<std::vector<record>>& records;

  static std::uint64_t put(const message& m, std::uint64_t access) {
    return (1 + std::uint64_t{m.number}) << 8 | access;  // as recorded_thread::fresh()
  }
  void elements(const message& m, auto&& each) const {
    each(cells.at(m.a));
    each(cells.at(m.b));
  }
  found attempt(auto& tx, const message& m) const {
    const found now{tx.read(cells, m.a), tx.read(cells, m.b)};
    tx.write(cells, m.a, put(m, 0));
    if (m.writes_both != 0) tx.write(cells, m.b, put(m, 1));
    return now;
  }
  void answer(const message& m, const activity::outcome<found>& f, auto& at) {
    records[at.worker()].push_back({m, f.value});
  }
};

std::string complaint_of(world& w, std::uint64_t seed) {
  const auto ranks = static_cast<std::uint64_t>(w.size());
  const std::uint64_t n = 2 * ranks + 2, each = 60;
  owned_vertex_map<std::uint64_t> cells(w, {n, w.size()}, 0);
  std::iota(cells.local().begin(), cells.local().end(), cells.first());
  task::per_worker<std::vector<recording::record>> records(w.workers());
  {
    activity::domain data(w);
    executor reads(data, recording{cells, records}, {.max_concurrent = 4, .grain = 1 + seed % 4},
                   cells);
    am::epoch e(w);
    w.parallel_for(
        each,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          reads.spawn(k, [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              auto draw = draw_of(w, seed, i);
              const auto a = draw.below(n), b = (a + 1 + draw.below(n - 1)) % n;
              const auto number = i * ranks + static_cast<std::uint64_t>(w.rank());
              send({a, b, static_cast<std::uint32_t>(number),
                    static_cast<std::uint32_t>(draw.below(2))});
            }
          });
        },
        5);
    e.close();
  }
  std::vector<recording::record> mine;
  for (const auto& r : records) mine.insert(mine.end(), r.value.begin(), r.value.end());
  const auto all = w.all_gather_values<recording::record>(mine);
  if (all.size() != each * ranks) return "a message has no answer";
  const auto num = static_cast<std::uint32_t>(all.size());
  std::vector<support::recorded_thread> operators;
  for (std::uint32_t i = 0; i < num; ++i) operators.emplace_back(i, num);
  for (const auto& [m, result] : all) {
    auto& op = operators[m.number];
    op.begin();
    op.add({static_cast<std::uint32_t>(m.a), result.a, recording::put(m, 0)});
    op.add({static_cast<std::uint32_t>(m.b), result.b, m.writes_both ? recording::put(m, 1) : 0});
    op.committed();
  }
  return support::history(operators).complaint();
}

TEST_P(Executor, RunsEachOperatorAsIfAlone) {
  GetParam().run([](world& w) { EXPECT_EQ(complaint_of(w, 2), ""); });
}

TEST(ExecutorSeeds, RunEachOperatorAsIfAlone) {
  constexpr std::uint64_t seeds = support::sanitized ? 16 : 100;
  std::uint64_t refusals = 0, commits = 0, operators = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto ranks = static_cast<rank_t>(2 + seed % 3);
    support::on_simulated_ranks(ranks, 1 + static_cast<int>(seed / 4 % 2), seed, [&](world& w) {
      EXPECT_EQ(complaint_of(w, seed), "") << seed;
      EXPECT_EQ(transfer_by_operators(w, {.messages = 40, .seed = seed}), "") << seed;
      refusals += w.counters().total(counter::dtx_refusals);
      commits += w.counters().total(counter::dtx_commits);
      operators += w.counters().total(counter::operators);
    });
  }
  EXPECT_GT(refusals, 10 * seeds);
  EXPECT_GT(commits, 10 * seeds);
  EXPECT_GT(operators, 2 * commits) << "operators hardly acquire together";
}

// Claims take longer than any rest that begins with the smallest bound.
TEST(ExecutorSeeds, GroupsRestAsLongAsTheirClaimsTake) {
  for (std::uint64_t seed = 1; seed < support::few_when_sanitized(10); ++seed) {
    run_simulated({.ranks = 4, .workers = 2, .seed = seed, .latency_us = 5'000}, {}, [&](world& w) {
      EXPECT_EQ(transfer_by_operators(w, {.messages = 30, .seed = seed}), "") << seed;
      const auto commits = w.sum(w.counters().total(counter::dtx_commits));
      const auto restarts = w.sum(w.counters().total(counter::dtx_restarts));
      EXPECT_LT(restarts, 10 * commits) << seed;
    });
  }
}

}  // namespace
}  // namespace cairn::dtx::executor_test
