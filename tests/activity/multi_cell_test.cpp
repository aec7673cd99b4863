// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <numeric>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/on_ranks.hpp>

namespace cairn::activity::multi_cell_test {
namespace {

// Accounts with a balance and a count of changes, wider than one cell, and a transfer that is
// refused when the money is short. Money is neither made nor lost, whatever interleaves.
struct account {
  std::int64_t balance = 100;
  std::uint64_t changes = 0;
};

struct transfer {
  struct message {
    std::uint32_t from, to;
    std::int64_t amount;
  };
  const pgas::vertex_map<account>& accounts;
  task::per_worker<std::uint64_t>& done;

  void elements(const message& m, auto&& each) const {
    each(accounts.at(m.from));
    each(accounts.at(m.to));
  }
  bool attempt(auto& tx, const message& m) const {
    auto from = tx.read(accounts, m.from);
    if (from.balance < m.amount) return false;
    from.balance -= m.amount;
    ++from.changes;
    tx.write(accounts, m.from, from);
    auto to = tx.read(accounts, m.to);  // may be the same account
    to.balance += m.amount;
    ++to.changes;
    tx.write(accounts, m.to, to);
    return true;
  }
  void after(const message&, auto& at) { ++done[at.worker()]; }
};

struct setting {
  int workers;
  mechanism chosen;
  std::size_t grain;
  bool emulate;
};

class Transfers : public testing::TestWithParam<setting> {};

TEST_P(Transfers, ConserveMoneyAndCountEveryChange) {
  const auto p = GetParam();
  world w(p.workers);
  if (p.chosen == mechanism::htm && !p.emulate && !w.transactions().works) {
    GTEST_SKIP() << w.transactions().reason;
  }
  options opt{.mechanism = p.chosen, .grain = p.grain};
  if (p.emulate) {
    opt.emulate = emulation_options{
        .rates = {.conflict = 0.2, .capacity = 0.1, .lock_taken = 0.05, .other = 0.1}};
  }
  constexpr std::uint32_t n = 40, transfers = 20'000;
  pgas::vertex_map<account> accounts(w, {n, 1}, account{});
  task::per_worker<std::uint64_t> done(p.workers);
  domain money(w, opt);
  executor<transfer> transfers_of(money, transfer{accounts, done});
  am::epoch epoch(w);
  w.parallel_for(
      transfers,
      [&](worker_t k, std::size_t begin, std::size_t end) {
        transfers_of.spawn(k, [&](auto& send) {
          for (auto i = begin; i < end; ++i) {
            auto draw = random64(7).stream(i);
            send({static_cast<std::uint32_t>(draw.below(n)),
                  static_cast<std::uint32_t>(draw.below(n)),
                  static_cast<std::int64_t>(draw.below(60))});
          }
        });
      },
      100);
  epoch.close();
  std::int64_t money_left = 0;
  std::uint64_t changes = 0;
  for (const auto& a : accounts.local()) {
    EXPECT_GE(a.balance, 0);
    money_left += a.balance;
    changes += a.changes;
  }
  std::uint64_t took = 0;
  for (const auto& d : done) took += d.value;
  EXPECT_EQ(money_left, std::int64_t{n} * 100);
  EXPECT_EQ(changes, 2 * took);
  EXPECT_GT(took, 0u);
  EXPECT_EQ(w.counters().total(obs::counter::operators), transfers);
  EXPECT_EQ(w.counters().total(obs::counter::operators_failed), transfers - took);
}

INSTANTIATE_TEST_SUITE_P(
    WorkersMechanismsGrains, Transfers,
    testing::Values(setting{1, mechanism::plain, 1, false}, setting{1, mechanism::htm, 16, true},
                    setting{3, mechanism::htm, 1, true}, setting{3, mechanism::htm, 8, true},
                    setting{3, mechanism::htm, 200, true}, setting{2, mechanism::htm, 16, false},
                    setting{1, mechanism::locks, 1, false}, setting{4, mechanism::locks, 1, false},
                    setting{1, mechanism::stm, 1, false}, setting{4, mechanism::stm, 1, false},
                    setting{3, mechanism::stm, 16, false}, setting{2, mechanism::stm, 64, false},
                    setting{1, mechanism::one_lock, 1, false},
                    setting{4, mechanism::one_lock, 1, false},
                    setting{3, mechanism::automatic, 0, false}));

// Two operators over one domain, whose activities must not pass each other.
void transfer_by_two_operators(const options& opt) {
  world w(3);
  pgas::vertex_map<account> accounts(w, {8, 1}, account{});
  task::per_worker<std::uint64_t> done(3);
  domain money(w, opt);
  executor<transfer> some(money, transfer{accounts, done}), others(money, transfer{accounts, done});
  am::epoch epoch(w);
  w.parallel_for(
      6'000,
      [&](worker_t k, std::size_t begin, std::size_t end) {
        (begin / 10 % 2 == 0 ? some : others).spawn(k, [&](auto& send) {
          for (auto i = begin; i < end; ++i) {
            auto draw = random64(9).stream(i);
            send({static_cast<std::uint32_t>(draw.below(8)),
                  static_cast<std::uint32_t>(draw.below(8)), 1});
          }
        });
      },
      10);
  epoch.close();
  std::int64_t money_left = 0;
  for (const auto& a : accounts.local()) money_left += a.balance;
  EXPECT_EQ(money_left, 800);
}

TEST(Transfers, OfTwoOperatorsOverOneDomainConserveMoney) {
  transfer_by_two_operators({.mechanism = mechanism::stm, .grain = 4});
  transfer_by_two_operators(
      {.mechanism = mechanism::htm, .grain = 4, .emulate = emulation_options{.rates = {}}});
}

// Sums what it is told, and touches as many elements as it is told.
struct touch {
  struct message {
    std::uint32_t first, count;
  };
  const pgas::vertex_map<account>& accounts;
  std::atomic<std::uint64_t>& ran;

  void elements(const message& m, auto&& each) const {
    for (std::uint32_t i = 0; i < m.count; ++i) each(accounts.at(m.first + i));
  }
  void attempt(auto& tx, const message& m) const {
    for (std::uint32_t i = 0; i < m.count; ++i) {
      auto a = tx.read(accounts, m.first + i);
      ++a.changes;
      tx.write(accounts, m.first + i, a);
    }
  }
  void after(const message&) { ++ran; }
};

TEST(MultiCellOnRanks, AnOperatorWithoutElementsRunsWhereItWasSpawned) {
  for (const rank_t ranks : {1, 2, 3}) {
    support::on_ranks(ranks, 1, [](world& w) {
      const auto n = 4 * static_cast<std::uint64_t>(w.size());
      pgas::vertex_map<account> accounts(w, pgas::partition(n, w.size()), {});
      std::atomic<std::uint64_t> ran = 0;
      domain data(w);
      executor<touch> touches(data, touch{accounts, ran});
      am::epoch e(w);
      touches.spawn(main_worker, [](auto& send) {
        for (int i = 0; i < 5; ++i) send({0, 0});
        send({0, 2});
      });
      e.close();
      EXPECT_EQ(ran, 5u + (w.rank() == 0 ? static_cast<std::uint64_t>(w.size()) : 0u));
      for (std::uint64_t v = 0; v < 2 && w.rank() == 0; ++v) {
        EXPECT_EQ(accounts.local()[v].changes, static_cast<std::uint64_t>(w.size()));
      }
    });
  }
}

TEST(Domain, RefusesAtomicsForSeveralCells) {
  world w(2);
  EXPECT_THROW(domain(w, {.mechanism = mechanism::atomics}), usage_error);
  EXPECT_THROW(domain(w, {.mechanism = mechanism::plain}), usage_error);
}

}  // namespace
}  // namespace cairn::activity::multi_cell_test
