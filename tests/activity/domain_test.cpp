// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::domain_test {
namespace {

constexpr std::uint64_t n = 96;  // an even share for each rank

/// One more for a cell and the one after it, of the same rank.
struct add_to_two {
  struct message {
    std::uint64_t id;
  };
  pgas::vertex_map<std::uint64_t>& map;
  void elements(const message& m, auto&& each) const {
    each(map.at(m.id));
    each(map.at(m.id ^ 1));
  }
  void attempt(auto& tx, const message& m) const {
    tx.write(map, m.id, tx.read(map, m.id) + 1);
    tx.write(map, m.id ^ 1, tx.read(map, m.id ^ 1) + 1);
  }
};

/// The same, and says when its message has come.
struct add_to_two_and_say : add_to_two {
  std::atomic<bool>& received;
  bool wanted(const message&) const {
    received = true;
    return true;
  }
};

void once_for_each(world& w, executor<add_to_two>& op) {
  am::epoch e(w);
  w.parallel_for(
      n,
      [&](worker_t k, std::size_t begin, std::size_t end) {
        op.spawn(k, [&](auto& send) {
          for (auto i = begin; i < end; ++i) send({i});
        });
      },
      16);
  e.close();
}

TEST(Domain, SaysWhatItRunsAndWhy) {
  const auto of = [](int workers, const options& opt) {
    world w(workers);
    const domain d(w, opt);
    return std::string(name(d.chosen_mechanism())) + ": " + d.why();
  };
  world w;
  const std::string without = "locks: no hardware transactions: " + w.transactions().reason;
  const bool htm = w.transactions().works;
  EXPECT_EQ(of(1, {}), "plain: the rank has one worker");
  EXPECT_EQ(of(2, {}), htm ? "htm: hardware transactions work here" : without);
  EXPECT_EQ(of(2, {.mechanism = mechanism::htm}), htm ? "htm: it was requested" : without);
  EXPECT_EQ(of(2, {.emulate = emulation_options{}}), "htm: hardware transactions are emulated");
  EXPECT_EQ(of(1, {.mechanism = mechanism::stm}), "stm: it was requested");
  EXPECT_EQ(of(3, {.mechanism = mechanism::one_lock}), "one-lock: it was requested");
  EXPECT_EQ(of(1, {.mechanism = mechanism::locks}), "locks: it was requested");
}

TEST(Domain, JudgesFallbacksByTheirShareOnceThereAreSome) {
  static_assert(!falls_back_too_often({.committed = 0, .fallbacks = 0}) &&
                !falls_back_too_often({.committed = 0, .fallbacks = 63}));
  static_assert(falls_back_too_often({.committed = 0, .fallbacks = 64}) &&
                falls_back_too_often({.committed = 74, .fallbacks = 26}));
  static_assert(!falls_back_too_often({.committed = 75, .fallbacks = 25}) &&
                !falls_back_too_often({.committed = 1'000'000, .fallbacks = 0}));
}

TEST(Domain, MovesToStmAtTheEpochAfterTooManyFallbacksAndNotWithinOne) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
  domain data(w, {.grain = 1, .emulate = emulation_options{.rates = {.conflict = 1}}});
  executor<add_to_two> op(data, add_to_two{map});
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    const auto groups_by_stm = w.counters().total(obs::counter::activities);
    once_for_each(w, op);
    EXPECT_EQ(op.chosen_mechanism(), epoch == 1 ? mechanism::htm : mechanism::stm);
    EXPECT_EQ(w.counters().total(obs::counter::activities) - groups_by_stm, epoch == 1 ? 0 : n);
    for (const auto x : map.local()) EXPECT_EQ(x, 2 * epoch);
  }
  EXPECT_EQ(data.why(), "96 of 96 groups of hardware transactions took the fallback lock");
}

TEST(Domain, JudgesFallbacksWithoutTheActivitiesThatTrialEpochsRanByLocks) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
  domain data(w, {.grain = 1, .emulate = emulation_options{.rates = {.conflict = 1}}});
  for (int i = 0; i < 1000; ++i) data.count_stripes(main_worker, 2);
  executor<add_to_two> op(data, add_to_two{map});
  for (int epoch = 0; epoch < 2; ++epoch) once_for_each(w, op);
  EXPECT_EQ(op.chosen_mechanism(), mechanism::stm);
  EXPECT_EQ(data.why(), "96 of 96 groups of hardware transactions took the fallback lock");
}

/// One more for `wide` cells from one on.
struct add_to_many {
  struct message {
    std::uint64_t first, wide;
  };
  pgas::vertex_map<std::uint64_t>& map;
  void elements(const message& m, auto&& each) const {
    for (std::uint64_t i = 0; i < m.wide; ++i) each(map.at((m.first + 8 * i) % n));
  }
  void attempt(auto& tx, const message& m) const {
    for (std::uint64_t i = 0; i < m.wide; ++i) {
      const auto id = (m.first + 8 * i) % n;
      tx.write(map, id, tx.read(map, id) + 1);
    }
  }
};

TEST(Domain, MovesFromLocksToStmOnceActivitiesTakeMany) {
  world w(2);
  if (w.transactions().works) GTEST_SKIP() << "automatic runs htm here";
  for (const std::uint64_t wide : {2, 10}) {
    pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
    domain data(w);
    executor<add_to_many> op(data, add_to_many{map});
    for (int epoch = 0; epoch < 2; ++epoch) {
      am::epoch e(w);
      op.spawn(main_worker, [&](auto& send) {
        for (std::uint64_t i = 0; i < n; ++i) send({i, wide});
      });
      e.close();
      EXPECT_EQ(op.chosen_mechanism(), epoch == 0 || wide == 2 ? mechanism::locks : mechanism::stm);
    }
    for (const auto x : map.local()) EXPECT_EQ(x, 2 * wide);
    if (wide == 10) {
      EXPECT_NE(data.why().find("96 activities took "), std::string::npos) << data.why();
    }
  }
}

TEST(Domain, StaysWithHtmWhileItCommits) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
  domain data(w, {.grain = 1, .emulate = emulation_options{.rates = {}}});
  executor<add_to_two> op(data, add_to_two{map});
  for (int epoch = 0; epoch < 3; ++epoch) once_for_each(w, op);
  EXPECT_EQ(op.chosen_mechanism(), mechanism::htm);
}

TEST(Domain, DoesNotMoveWhenHtmWasAskedFor) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
  domain data(w, {.mechanism = mechanism::htm,
                  .grain = 1,
                  .emulate = emulation_options{.rates = {.conflict = 1}}});
  executor<add_to_two> op(data, add_to_two{map});
  for (int epoch = 0; epoch < 3; ++epoch) once_for_each(w, op);
  EXPECT_EQ(op.chosen_mechanism(), mechanism::htm);
  for (const auto x : map.local()) EXPECT_EQ(x, 6u);
}

class DomainPlaces : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, DomainPlaces, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Every rank sends to every pair of cells, wherever it lives.
TEST_P(DomainPlaces, EveryMechanismLosesNothing) {
  const auto emulate = emulation_options{};
  const options settings[] = {
      {},
      {.mechanism = mechanism::stm},
      {.mechanism = mechanism::stm, .grain = 1},
      {.mechanism = mechanism::stm, .grain = 9, .retry = tm::retry_hle},
      {.mechanism = mechanism::one_lock},
      {.mechanism = mechanism::locks},
      {.mechanism = mechanism::htm, .emulate = emulate, .retry = tm::retry_bgq},
      {.emulate = emulate}};
  GetParam().run([&](world& w) {
    for (const auto& setting : settings) {
      SCOPED_TRACE(name(setting.mechanism));
      const auto ranks = static_cast<std::uint64_t>(w.size());
      pgas::vertex_map<std::uint64_t> map(w, {n, w.size()}, 0);
      domain data(w, setting);
      executor<add_to_two> op(data, add_to_two{map});
      for (std::uint64_t epoch = 1; epoch <= 2; ++epoch) {
        once_for_each(w, op);
        for (const auto x : map.local()) EXPECT_EQ(x, 2 * ranks * epoch);
      }
      if (data.versions()) {
        EXPECT_EQ(data.versions()->num_owned(), 0u);
      }
      w.barrier();
    }
  });
}

// Sends messages, at most 100, until count() exceeds 0. Meanwhile another thread holds what their
// operator needs: hold(cell, keep) takes it and calls keep(), which returns after the worker has
// come for it and had time to try.
template <class Hold, class Count>
void send_while_held(world& w, domain& data, Hold&& hold, Count&& count) {
  pgas::vertex_map<std::uint64_t> map(w, {2, w.size()}, 0);
  std::atomic<bool> received = false;
  executor<add_to_two_and_say> op(data, {{map}, received});
  for (int tries = 0; count() == 0 && tries < 100; ++tries) {
    received = false;
    std::atomic<bool> held = false;
    std::thread other([&] {
      hold(map.at(0).element(), [&] {
        held = true;
        while (!received) std::this_thread::yield();
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      });
    });
    while (!held) std::this_thread::yield();
    am::epoch e(w);
    op.spawn(main_worker, [](auto& send) { send({0}); });
    e.close();
    other.join();
  }
}

constexpr auto relax = [](unsigned) { std::this_thread::yield(); };

TEST(Domain, CountsTheLocksThatItWaitedFor) {
  for (const auto setting : {mechanism::locks, mechanism::one_lock}) {
    SCOPED_TRACE(name(setting));
    world w;
    domain data(w, {.mechanism = setting});
    const auto waits = [&] { return w.counters().total(obs::counter::lock_waits); };
    const auto hold = [&](auto& cell, auto keep) {
      const auto keep_alone = [&](auto& guard) {
        EXPECT_FALSE(guard.waited());
        keep();
      };
      if (setting == mechanism::locks) {
        const tm::lock_table::guard guard(*data.locks(), &cell, relax);
        keep_alone(guard);
      } else {
        const tm::fallback_lock::guard guard(data.fallback(), relax);
        keep_alone(guard);
      }
    };
    send_while_held(w, data, hold, waits);
    EXPECT_EQ(waits(), 1u);
  }
}

TEST(Domain, EmulatedTransactionsAbortWhileTheFallbackLockIsHeld) {
  world w;
  domain data(w, {.mechanism = mechanism::htm, .emulate = emulation_options{}});
  const auto aborts = [&] { return w.counters().total(obs::counter::aborts_explicit); };
  const auto hold = [&](auto&, auto keep) {
    const tm::fallback_lock::guard guard(data.fallback(), relax);
    keep();
  };
  send_while_held(w, data, hold, aborts);
  EXPECT_GT(aborts(), 0u);
}

struct add_slowly : add_to_two {
  void attempt(auto& tx, const message& m) const {
    const auto x = tx.read(map, m.id), y = tx.read(map, m.id ^ 1);
    for (volatile int i = 0; i < 100;) i = i + 1;
    tx.write(map, m.id, x + 1);
    tx.write(map, m.id ^ 1, y + 1);
  }
};

// Epochs of the domain run by several mechanisms. An operator that is compiled for htm alone uses
// the same one as the others.
TEST(Domain, AnOperatorCompiledForHtmRunsByTheMechanismOfTheEpoch) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {2, w.size()}, 0);
  domain data(w);
  executor<add_slowly, mechanism::htm> fixed(data, {{map}});
  executor<add_slowly> any(data, {{map}});
  constexpr std::uint64_t epochs = 300, messages = 2000;
  for (std::uint64_t i = 0; i < epochs; ++i) {
    am::epoch e(w);
    w.parallel_for(
        messages,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          const auto send_all = [&](auto& send) {
            for (auto m = begin; m < end; ++m) send({m % 2});
          };
          k == main_worker ? fixed.spawn(k, send_all) : any.spawn(k, send_all);
        },
        4);
    e.close();
  }
  EXPECT_EQ(map.load(0) + map.load(1), 2 * epochs * messages);
}

}  // namespace
}  // namespace cairn::activity::domain_test
