// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/dtx/transactions.hpp>

namespace cairn::support {

/// A balance and a count of changes: too wide for one cell.
struct account {
  std::int64_t balance = 100;
  std::uint64_t changes = 0;
};

/// Moves 1 from account x, which was read as `from`, to account y, which may be the same.
template <class Accounts>
void move_one(auto& tx, const Accounts& accounts, account from, std::uint64_t x, std::uint64_t y) {
  --from.balance;
  ++from.changes;
  tx.write(accounts, x, from);
  auto to = tx.read(accounts, y);
  ++to.balance;
  ++to.changes;
  tx.write(accounts, y, to);
}

/// The random numbers of this rank's i-th message.
inline random64 draw_of(const world& w, std::uint64_t seed, std::uint64_t i) {
  return random64(seed).stream(i * static_cast<std::uint64_t>(w.size()) +
                               static_cast<std::uint64_t>(w.rank()));
}

/// Checks all ranks' accounts after `transfers` transfers. Returns the faults, or "". Collective.
inline std::string accounts_wrong(world& w, dtx::owned_vertex_map<account>& accounts,
                                  std::uint64_t transfers) {
  std::uint64_t balance = 0, changes = 0, held = 0;
  for (const auto& a : accounts.local()) {
    balance += static_cast<std::uint64_t>(a.balance);
    changes += a.changes;
  }
  for (const auto m : accounts.local_markers()) held += m != dtx::free_marker;
  std::string wrong;
  if (w.sum(balance) != 100 * accounts.size()) wrong += "money was made or lost; ";
  if (w.sum(changes) != 2 * transfers) wrong += "a change was lost; ";
  if (w.sum(held) != 0) wrong += "a marker is left; ";
  return wrong;
}

/// A transfer between two accounts of one rank.
struct local_transfer {
  struct message {
    std::uint64_t from, to;
  };
  const dtx::owned_vertex_map<account>& accounts;
  std::atomic<std::uint64_t>& done;

  void elements(const message& m, auto&& each) const {
    each(accounts.at(m.from));
    each(accounts.at(m.to));
  }
  bool attempt(auto& tx, const message& m) const {
    const account from = tx.read(accounts, m.from);
    if (from.balance < 1) return false;
    move_one(tx, accounts, from, m.from, m.to);
    return true;
  }
  void after(const message&) { ++done; }
};

struct transfer_options {
  activity::options activity = {};
  std::uint64_t transactions = 100;  ///< per rank, and as many local transfers
  std::uint64_t accounts = 3;        ///< per rank
  std::uint64_t seed = 1;
};

/// Every rank transfers money among accounts of all ranks, by transactions with elements named in
/// advance or discovered. Transfers among accounts of one rank (its own or another) run
/// concurrently. Returns the faults, or "". Collective.
inline std::string transfer_everywhere(world& w, const transfer_options& opt) {
  const auto n = opt.accounts * static_cast<std::uint64_t>(w.size());
  dtx::owned_vertex_map<account> accounts(w, {n, w.size()}, account{});
  std::atomic<std::uint64_t> done = 0;
  const auto before = w.counters().total(obs::counter::dtx_commits);
  {
    activity::domain money(w, opt.activity);
    activity::executor<local_transfer> locally(money, local_transfer{accounts, done});
    dtx::transactions txs(money, {.max_concurrent = 1 + opt.seed % 8}, accounts);
    am::epoch e(w);
    w.parallel_for(
        opt.transactions,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto i = begin; i < end; ++i) {
            auto draw = draw_of(w, opt.seed, i);
            const auto x = draw.below(n), y = draw.below(n);
            const auto move = [&accounts, x, y](auto& tx) {
              move_one(tx, accounts, tx.read(accounts, x), x, y);
            };
            if (draw.below(2) == 0) {
              txs.run(k, move);
            } else {
              txs.run(k, move, [&](auto&& each) {
                each(accounts.at(x));
                each(accounts.at(y));
              });
            }
            const auto base = draw.below(static_cast<std::uint64_t>(w.size())) * opt.accounts;
            locally.spawn(k, [&](auto& send) {
              send({base + draw.below(opt.accounts), base + draw.below(opt.accounts)});
            });
          }
        },
        7);
    e.close();
  }
  const auto commits = w.sum(w.counters().total(obs::counter::dtx_commits) - before);
  const auto expected =
      w.sum(done.load()) + opt.transactions * static_cast<std::uint64_t>(w.size());
  auto wrong = accounts_wrong(w, accounts, expected);
  if (commits != opt.transactions * static_cast<std::uint64_t>(w.size())) {
    wrong += "a transaction did not commit; ";
  }
  return wrong;
}

}  // namespace cairn::support
