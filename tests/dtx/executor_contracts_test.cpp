// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
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

#include <support/num_schedules.hpp>
#include <support/operator_transfers.hpp>
#include <support/places.hpp>

namespace cairn::dtx::executor_contracts_test {
namespace {

using activity::mechanism;
using obs::counter;
using support::account;
using support::answered_transfer;
using support::draw_of;
using support::transfer_by_operators;

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

class ExecutorContract : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, ExecutorContract, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(ExecutorContract, OperatorThatReachesForWhatItDidNotNameFailsEveryRank) {
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
          if (w.rank() == 0) lies.spawn(main_worker, [&](auto& send) { send(m); });
          e.close();
        } catch (const std::exception& e) {
          EXPECT_NE(std::string(e.what()).find("only elements that elements() names"),
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
      executor lies(data, liar{map}, {.max_concurrent = 1, .grain = 8}, map);
      am::epoch e(w);
      if (w.rank() == 0) {
        lies.spawn(main_worker, [&](auto& send) {
          send({0, 2, 0});
          send({1, 2, 0});  // reaches for what the first has named
        });
      }
      e.close();
    });
  };
  EXPECT_ANY_THROW(run());
}

TEST(ExecutorContracts, ElementsBeyondTheirMapOrOfAnotherMapAreRefused) {
  for (const rank_t ranks : {1, 2}) {
    support::on_simulated_ranks(ranks, 1, 1, [](world& w) {
      owned_vertex_map<std::uint64_t> map(w, {4, w.size()}, 0), other(w, {4, w.size()}, 0);
      activity::domain data(w);
      executor ops(data, liar{map}, {}, map), strangers(data, liar{other}, {}, map);
      am::epoch e(w);
      const auto spawn = [](auto& on, const liar::message& m) {
        on.spawn(main_worker, [&](auto& send) { send(m); });
      };
      EXPECT_THROW(spawn(ops, {0, 4, 0}), contract_violation);
      EXPECT_THROW(spawn(ops, {~std::uint64_t{0}, 1, 1}), contract_violation);
      EXPECT_THROW(spawn(strangers, {0, 2, 0}), contract_violation);
      EXPECT_THROW(spawn(strangers, {0, 1, 0}), contract_violation);  // of one rank
      spawn(ops, {0, 3, 3});  // what was refused has left nothing behind
      e.close();
      EXPECT_EQ(w.sum(w.counters().total(counter::dtx_commits)), w.size() == 1 ? 0u : 2u);
    });
  }
}

// Elements that nobody releases keep transactions and activities waiting; cancel destroys them.
TEST(ExecutorCancelled, LeavesNothingThatRunsInALaterEpoch) {
  for (std::uint64_t seed = 0; seed < support::few_when_sanitized(40); ++seed) {
    support::on_simulated_ranks(3, 2, seed, [&](world& w) {
      owned_vertex_map<account> accounts(w, {6, 3}, account{});
      std::vector<std::atomic<int>> answers(400);
      std::atomic<std::uint64_t> done = 0, applied = 0;
      activity::domain money(w, {.mechanism = mechanism::locks});
      std::optional<executor<answered_transfer>> moves;
      moves.emplace(money, answered_transfer{w, accounts, answers, done, applied},
                    executor_options{.max_concurrent = 2, .grain = 2}, accounts);
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
}  // namespace cairn::dtx::executor_contracts_test
