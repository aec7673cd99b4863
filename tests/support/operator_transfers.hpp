// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/epoch.hpp>
#include <cairn/dtx/executor.hpp>

#include <support/transfers.hpp>

namespace cairn::support {

// An operator of both kinds: it may fail, and every message is answered once, to its spawner.
struct answered_transfer {
  struct message {
    std::uint64_t from, to;
    std::uint32_t number;
    rank_t spawner;
  };
  world& w;
  const dtx::owned_vertex_map<account>& accounts;
  std::vector<std::atomic<int>>& answers;
  std::atomic<std::uint64_t>&done, &applied;

  void elements(const message& m, auto&& each) const {
    each(accounts.at(m.from));
    each(accounts.at(m.to));
  }
  activity::outcome<std::int64_t> attempt(auto& tx, const message& m) const {
    const account from = tx.read(accounts, m.from);
    if (from.balance < 98) return {false, from.balance};
    move_one(tx, accounts, from, m.from, m.to);
    return {true, from.balance - 1};
  }
  void after(const message& m) {
    EXPECT_TRUE(accounts.owns(m.from)) << "`after` runs at the owner of the first element";
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
  activity::mechanism mechanism = activity::mechanism::automatic;
  std::uint64_t messages = 60, accounts = 3, seed = 1;  // per rank
};

// All ranks' workers spawn transfers among all accounts. Returns the faults, or "".
inline std::string transfer_by_operators(world& w, const transfers& opt) {
  const auto n = opt.accounts * static_cast<std::uint64_t>(w.size());
  dtx::owned_vertex_map<account> accounts(w, {n, w.size()}, account{});
  std::vector<std::atomic<int>> answers(opt.messages);
  std::atomic<std::uint64_t> done = 0, applied = 0;
  {
    activity::options other{.mechanism = opt.mechanism, .grain = 4};
    if (opt.mechanism == activity::mechanism::htm)
      other.emulate = activity::emulation_options{.seed = opt.seed};
    activity::domain money(w, other);
    dtx::executor moves(money, answered_transfer{w, accounts, answers, done, applied},
                        {.max_concurrent = 1 + opt.seed % 5, .grain = 1 + opt.seed % 7}, accounts);
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
  const auto all_done = w.sum(done.load());
  auto wrong = accounts_wrong(w, accounts, all_done);
  if (all_done == 0) wrong += "no transfer took effect; ";
  if (w.sum(applied.load()) != all_done) wrong += "`after` did not run once for each; ";
  for (const auto& a : answers) {
    if (a != 1) wrong += "a message had " + std::to_string(a.load()) + " answers; ";
  }
  return wrong;
}

}  // namespace cairn::support
