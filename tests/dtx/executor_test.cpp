// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
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
#include <cairn/dtx/executor.hpp>

#include <support/places.hpp>
#include <support/serializability.hpp>
#include <support/transfers.hpp>

namespace cairn::dtx {
namespace {

using activity::mechanism;
using obs::counter;
using support::account;

// Who spawns what is decided by the seed, the rank and the number of the message.
random64 draw_of(const world& w, std::uint64_t seed, std::uint64_t i) {
  return random64(seed,
                  i * static_cast<std::uint64_t>(w.size()) + static_cast<std::uint64_t>(w.rank()));
}

// Both the operator's kinds at once: every message is answered once, to who spawned it.
struct answered_transfer {
  struct message {
    std::uint64_t from, to;
    std::uint32_t number;
    rank_t spawner;
  };
  world& w;
  const owned_vertex_map<account>& accounts;
  std::vector<std::atomic<int>>& answers;
  std::atomic<std::uint64_t>&done, &applied;

  void elements(const message& m, auto&& each) const {
    each(accounts.at(m.from));
    each(accounts.at(m.to));
  }
  activity::outcome<std::int64_t> attempt(auto& tx, const message& m) const {
    auto from = tx.read(accounts, m.from);
    if (from.balance < 98) return {false, from.balance};
    --from.balance;
    ++from.changes;
    tx.write(accounts, m.from, from);
    auto to = tx.read(accounts, m.to);
    ++to.balance;
    ++to.changes;
    tx.write(accounts, m.to, to);
    return {true, from.balance};
  }
  void after(const message& m) {
    EXPECT_TRUE(accounts.owns(m.from)) << "`after` runs where the first element is";
    ++applied;
  }
  void answer(const message& m, const activity::outcome<std::int64_t>& left) {
    EXPECT_EQ(m.spawner, w.rank());
    EXPECT_TRUE(left.done ? left.value >= 97 : left.value <= 97);
    ++answers[m.number];
    done += left.done ? 1 : 0;
  }
};

struct transfers {
  mechanism how = mechanism::automatic;
  std::uint64_t messages = 60, accounts = 3, seed = 1;  // per rank
};

// What is wrong after all ranks' workers have spawned transfers among all accounts.
std::string transfer_by_operators(world& w, const transfers& opt) {
  const auto n = opt.accounts * static_cast<std::uint64_t>(w.size());
  owned_vertex_map<account> accounts(w, {n, w.size()}, account{});
  std::vector<std::atomic<int>> answers(opt.messages);
  std::atomic<std::uint64_t> done = 0, applied = 0;
  {
    activity::options how{.how = opt.how, .grain = 4};
    if (opt.how == mechanism::htm) how.emulate = activity::emulation_options{.seed = opt.seed};
    activity::domain money(w, how);
    executor moves(money, answered_transfer{w, accounts, answers, done, applied},
                   {.at_once = 1 + opt.seed % 5, .grain = 1 + opt.seed % 7}, accounts);
    am::epoch e(w);
    w.parallel_for(
        opt.messages,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          moves.spawn(k, [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              auto draw = draw_of(w, opt.seed, i);
              const auto from = draw.below(n), to = draw.below(n);  // may be the same account
              send({from, to, static_cast<std::uint32_t>(i), w.rank()});
            }
          });
        },
        7);
    e.close();
  }
  std::uint64_t balance = 0, changes = 0, held = 0;
  for (const auto& a : accounts.local()) {
    balance += static_cast<std::uint64_t>(a.balance);
    changes += a.changes;
  }
  for (const auto m : accounts.local_markers()) held += m != free_marker;
  std::string wrong;
  if (w.sum(balance) != 100 * n) wrong += "money was made or lost; ";
  const auto all_done = w.sum(done.load());
  if (all_done == 0) wrong += "no transfer took effect; ";
  if (w.sum(changes) != 2 * all_done) wrong += "a change was lost; ";
  if (w.sum(applied.load()) != all_done) wrong += "`after` did not run once for each; ";
  if (w.sum(held) != 0) wrong += "a marker is left; ";
  for (const auto& a : answers) {
    if (a != 1) wrong += "a message had " + std::to_string(a.load()) + " answers; ";
  }
  return wrong;
}

class Executor : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Executor, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Executor, ConservesMoneyAndAnswersWhoAsked) {
  GetParam().run([&](world& w) {
    std::uint64_t seed = 0;
    for (const auto how : {mechanism::automatic, mechanism::htm, mechanism::locks,
                           mechanism::one_lock, mechanism::stm}) {
      SCOPED_TRACE(activity::name(how));
      EXPECT_EQ(transfer_by_operators(w, {.how = how, .seed = ++seed}), "");
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
      random64 draw(3, i);
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
    found what;
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
    executor reads(data, recording{cells, records}, {.at_once = 4, .grain = 1 + seed % 4}, cells);
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
  for (const auto& [m, what] : all) {
    auto& op = operators[m.number];
    op.begin();
    op.add({static_cast<std::uint32_t>(m.a), what.a, recording::put(m, 0)});
    op.add({static_cast<std::uint32_t>(m.b), what.b, m.writes_both ? recording::put(m, 1) : 0});
    op.committed();
  }
  return support::history(operators).complaint();
}

TEST_P(Executor, RunsEachOperatorAsIfAlone) {
  GetParam().run([](world& w) { EXPECT_EQ(complaint_of(w, 2), ""); });
}

TEST(ExecutorSeeds, RunEachOperatorAsIfAlone) {
  std::uint64_t refusals = 0, commits = 0, operators = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto ranks = static_cast<rank_t>(2 + seed % 3);
    support::on_simulated_ranks(ranks, 1 + static_cast<int>(seed / 4 % 2), seed, [&](world& w) {
      EXPECT_EQ(complaint_of(w, seed), "") << seed;
      EXPECT_EQ(transfer_by_operators(w, {.messages = 40, .seed = seed}), "") << seed;
      refusals += w.counters().total(counter::dtx_refusals);
      commits += w.counters().total(counter::dtx_commits);
      operators += w.counters().total(counter::operators);
    });
  }
  EXPECT_GT(refusals, 1000u);
  EXPECT_GT(commits, 1000u);
  EXPECT_GT(operators, 2 * commits) << "operators hardly acquire together";
}

// What elements() names is what the first field says; the attempt reaches for the second.
struct liar {
  struct message {
    std::uint64_t named, also_named, reached;
  };
  const owned_vertex_map<std::uint64_t>& map;

  void elements(const message& m, auto&& each) const {
    each(map.at(m.named));
    each(map.at(m.also_named));
  }
  void attempt(auto& tx, const message& m) const { tx.write(map, m.reached, m.named); }
};

TEST_P(Executor, OperatorThatReachesForWhatItDidNotNameFailsEveryRank) {
  const auto& place = GetParam();
  // 2 elements a rank. Named: those of one rank, or of two; reached: one of another rank, or one
  // that is not there.
  const auto last = 2 * static_cast<std::uint64_t>(place.ranks) - 1;
  std::vector<liar::message> all{{0, 1, last + 1}};
  if (place.ranks > 1) all = {{0, 1, last}, {0, last, 1}, {last, 0, 1}, {2, 3, 0}, {2, 0, 1}};
  for (const auto& m : all) {
    std::atomic<int> failed = 0;
    const auto run = [&] {
      place.run([&](world& w) {
        try {
          owned_vertex_map<std::uint64_t> map(w, {last + 1, w.size()}, 0);
          activity::domain data(w);
          executor lies(data, liar{map}, {}, map);
          am::epoch e(w);
          if (w.rank() == 0) lies.spawn(0, [&](auto& send) { send(m); });
          e.close();
        } catch (const std::exception& e) {
          EXPECT_NE(std::string(e.what()).find("the elements that elements() names"),
                    std::string::npos)
              << e.what();
          ++failed;
          throw;
        }
      });
    };
    EXPECT_ANY_THROW(run()) << m.named << m.also_named << m.reached;
    EXPECT_EQ(failed, place.ranks);
  }
}

// In a group another operator has named it, and holds it: it is as wrong there.
TEST(ExecutorContracts, OperatorsOfAGroupReachForTheirOwnElementsOnly) {
  const auto run = [] {
    support::on_simulated_ranks(2, 1, 1, [](world& w) {
      owned_vertex_map<std::uint64_t> map(w, {4, 2}, 0);
      activity::domain data(w);
      executor lies(data, liar{map}, {.at_once = 1, .grain = 8}, map);
      am::epoch e(w);
      if (w.rank() == 0) {
        lies.spawn(0, [&](auto& send) {
          send({0, 2, 0});
          send({1, 2, 0});  // reaches for what the first has named
        });
      }
      e.close();
    });
  };
  EXPECT_ANY_THROW(run());
}

TEST(ExecutorContracts, ElementsBeyondTheirMapAreRefused) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    owned_vertex_map<std::uint64_t> map(w, {4, 2}, 0), other(w, {4, 2}, 0);
    activity::domain data(w);
    executor ops(data, liar{map}, {}, map), strangers(data, liar{other}, {}, map);
    am::epoch e(w);
    const auto spawn = [](auto& on, const liar::message& m) {
      on.spawn(0, [&](auto& send) { send(m); });
    };
    EXPECT_THROW(spawn(ops, {0, 4, 0}), contract_violation);
    EXPECT_THROW(spawn(ops, {~std::uint64_t{0}, 1, 1}), contract_violation);
    EXPECT_THROW(spawn(strangers, {0, 2, 0}), contract_violation);
    spawn(ops, {0, 3, 3});  // what was refused has left nothing behind
    e.close();
    EXPECT_EQ(w.sum(w.counters().total(counter::dtx_commits)), 2u);
  });
}

// Elements that nobody releases keep transactions and activities waiting; cancel destroys them.
TEST(ExecutorCancelled, LeavesNothingThatRunsInALaterEpoch) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    support::on_simulated_ranks(3, 2, seed, [&](world& w) {
      owned_vertex_map<account> accounts(w, {6, 3}, account{});
      std::vector<std::atomic<int>> answers(400);
      std::atomic<std::uint64_t> done = 0, applied = 0;
      activity::domain money(w, {.how = mechanism::locks});
      std::optional<executor<answered_transfer>> moves;
      moves.emplace(money, answered_transfer{w, accounts, answers, done, applied},
                    executor_options{.at_once = 2, .grain = 2}, accounts);
      std::atomic<std::uint64_t> chunks = 0;
      const auto moment = 1 + mix64(seed) % 100;
      const auto run = [&] {
        am::epoch e(w);
        w.parallel_for(
            answers.size(),
            [&](worker_t k, std::size_t begin, std::size_t end) {
              if (++chunks == moment && w.rank() == 1) w.cancel();
              moves->spawn(k, [&](auto& send) {
                for (auto i = begin; i < end; ++i) {
                  auto draw = draw_of(w, seed, i);
                  const auto from = draw.below(6), to = draw.below(6);
                  send({from, to, static_cast<std::uint32_t>(i), w.rank()});
                }
              });
            },
            4);
        e.close();
      };
      EXPECT_THROW(run(), cancelled);
      const auto before = applied.load();
      // The abandoned executor still lives; what it left must not run or hold this epoch.
      EXPECT_EQ(transfer_by_operators(w, {.messages = 30, .seed = seed}), "");
      EXPECT_EQ(applied.load(), before);
    });
  }
}

}  // namespace
}  // namespace cairn::dtx
