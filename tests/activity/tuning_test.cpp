// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/pool.hpp>

#include <support/places.hpp>

namespace cairn::activity::tuning_test {
namespace {

constexpr std::uint64_t n = 64;
const emulation_options no_aborts{.rates = {}, .capacity = max_grain};

/// A clock that operators move on by what they pretend to cost.
class told_clock final : public hw::clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept override {
    ++asked_;
    return now_;
  }
  [[nodiscard]] std::uint64_t asked() const noexcept { return asked_; }
  void pass(std::uint64_t ns) noexcept { now_ += ns; }

 private:
  std::atomic<std::uint64_t> now_{1};
  mutable std::atomic<std::uint64_t> asked_{0};
};

struct order {
  std::uint64_t id;
};

struct add_one {
  using message = order;
  pgas::vertex_map<std::uint64_t>& map;
  told_clock* clock = nullptr;
  std::uint64_t by_atomics = 0, by_transactions = 0;

  auto cell(const order& m) const { return map.at(m.id); }
  template <class Cell>
  void attempt(Cell x, const order&) const {
    x.add(1);
    if (clock) clock->pass(Cell::access_type::indivisible ? by_atomics : by_transactions);
  }
};

struct add_to_two {
  using message = order;
  pgas::vertex_map<std::uint64_t>& map;
  domain& data;
  told_clock* clock = nullptr;

  void elements(const order& m, auto&& each) const {
    each(map.at(m.id));
    each(map.at(m.id ^ 1));
  }
  void attempt(auto& tx, const order& m) const {
    tx.write(map, m.id, tx.read(map, m.id) + 1);
    tx.write(map, m.id ^ 1, tx.read(map, m.id ^ 1) + 1);
    if (clock) clock->pass(data.chosen_mechanism() == mechanism::one_lock ? 5 : 10);
  }
};

/// A rank of two workers on a clock of its own.
struct stage {
  stage() {
    net = std::make_unique<net::ring_transport>(std::make_shared<const net::ring_fabric>(1), 0);
    pool = task::make_threads({.workers = 2});
    w = std::make_unique<world>(*net, *pool, clock);
  }
  told_clock clock;
  std::unique_ptr<net::transport> net;
  std::unique_ptr<task::pool> pool;
  std::unique_ptr<world> w;
};

// An epoch of which worker 0 runs everything, some operators in each lane.
template <class Executor>
void run_epoch(world& w, Executor& op, int lanes) {
  am::epoch e(w);
  for (int i = 0; i < lanes; ++i) {
    op.spawn(main_worker, [](auto& send) {
      for (std::uint64_t id = 0; id < n; ++id) send({id});
    });
  }
  e.close();
}

TEST(Tuning, OneCellRunsByWhatTakesLessTime) {
  for (const bool atomics : {false, true}) {
    stage on;
    pgas::vertex_map<std::uint64_t> map(*on.w, {n, 1}, 0);
    executor<add_one> op(*on.w, {map, &on.clock, atomics ? 5u : 20u, 10}, {.emulate = no_aborts});
    EXPECT_EQ(op.chosen_mechanism(), mechanism::htm);
    EXPECT_EQ(op.grain(), start_values{}.htm_grain);
    run_epoch(*on.w, op, 2000);
    EXPECT_EQ(op.chosen_mechanism(), atomics ? mechanism::atomics : mechanism::htm) << op.why();
    if (atomics) {
      EXPECT_EQ(op.grain(), 1u);
    }
    EXPECT_NE(op.why().find("hardware transactions are emulated; tried "), std::string::npos)
        << op.why();
    for (const auto x : map.local()) EXPECT_EQ(x, 2000u);
  }
}

TEST(Tuning, ARunOfAThousandOperatorsMeasuresNothing) {
  stage on;
  pgas::vertex_map<std::uint64_t> map(*on.w, {n, 1}, 0);
  domain data(*on.w);
  executor<add_to_two> several(data, {map, data});
  executor<add_one> one(*on.w, {map}, {.emulate = no_aborts});
  const auto before = on.clock.asked();
  run_epoch(*on.w, several, 15);
  run_epoch(*on.w, one, 15);
  EXPECT_EQ(on.clock.asked(), before);
  run_epoch(*on.w, one, 100);
  EXPECT_GT(on.clock.asked(), before);
}

TEST(Tuning, TheEdgesThatABodyReturnsCount) {
  stage on;
  pgas::vertex_map<std::uint64_t> map(*on.w, {n, 1}, 0);
  executor<add_one> op(*on.w, {map}, {.emulate = no_aborts});
  am::epoch e(*on.w);
  op.spawn(main_worker, [](auto&) { return untuned_operators; });  // edges, but no message
  const auto before = on.clock.asked();
  op.spawn(main_worker, [](auto& send) { send({0}); });
  EXPECT_GT(on.clock.asked(), before);
  e.close();
}

// Epochs of 64 lanes are measured each, of 8 some of them.
TEST(Tuning, SeveralCellsMoveBetweenEpochsToWhatTakesLessTime) {
  for (const int lanes : {64, 8}) {
    stage on;
    pgas::vertex_map<std::uint64_t> map(*on.w, {n, 1}, 0);
    domain data(*on.w);
    executor<add_to_two> op(data, {map, data, &on.clock});
    const auto first = std::string(name(data.chosen_mechanism()));
    const int epochs = 400 * 64 / lanes;
    int by_one_lock = 0;
    for (int i = 0; i < epochs; ++i) {
      run_epoch(*on.w, op, lanes);
      if (i < 10) {
        EXPECT_EQ(name(data.chosen_mechanism()), first)
            << "what is tried may not take a large share";
      }
      if (data.chosen_mechanism() != mechanism::one_lock) continue;
      EXPECT_NE(op.why().find("took less time than by " + first), std::string::npos) << op.why();
      if (i >= epochs / 2) ++by_one_lock;
    }
    EXPECT_GE(by_one_lock, epochs * 45 / 100) << lanes << " lanes";
  }
}

TEST(Tuning, AnOperatorOfOneMechanismNeedsADomainThatStays) {
  stage on;
  pgas::vertex_map<std::uint64_t> map(*on.w, {n, 1}, 0);
  domain moves(*on.w), stays(*on.w, {.mechanism = mechanism::locks});
  using by_locks = executor<add_to_two, mechanism::locks>;
  EXPECT_THROW(by_locks(moves, {map, moves}), usage_error);
  EXPECT_THROW((executor<add_to_two, mechanism::stm>(stays, {map, stays})), usage_error);
  by_locks op(stays, {map, stays});
  for (int i = 0; i < 3; ++i) run_epoch(*on.w, op, 100);
  for (const auto x : map.local()) EXPECT_EQ(x, 600u);
}

TEST(Tuning, WhatWasAskedForStays) {
  stage on;
  pgas::vertex_map<std::uint64_t> map(*on.w, {n, 1}, 0);
  executor<add_one> fixed(*on.w, {map, &on.clock, 1, 10},
                          {.mechanism = mechanism::htm, .grain = 8, .emulate = no_aborts});
  executor<add_one> grain(*on.w, {map, &on.clock, 20, 10}, {.grain = 8, .emulate = no_aborts});
  domain data(*on.w, {.mechanism = mechanism::locks});
  executor<add_to_two> locks(data, {map, data, &on.clock});
  for (int i = 0; i < 100; ++i) {
    run_epoch(*on.w, fixed, 10);
    run_epoch(*on.w, grain, 10);
    run_epoch(*on.w, locks, 1);
  }
  EXPECT_EQ(fixed.chosen_mechanism(), mechanism::htm);
  EXPECT_EQ(fixed.grain(), 8u);
  EXPECT_EQ(grain.grain(), 8u);
  EXPECT_EQ(locks.chosen_mechanism(), mechanism::locks);
  EXPECT_EQ(locks.why(), "it was requested");
}

struct TuningPlaces : ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, TuningPlaces, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Long enough for every worker to try other ways, beside workers that do not.
TEST_P(TuningPlaces, NothingIsLostWhileTheWayChanges) {
  const std::uint64_t times = GetParam().ranks == 1 ? 400 : 40;
  GetParam().run([&](world& w) {
    const auto ranks = static_cast<std::uint64_t>(w.size());
    pgas::vertex_map<std::uint64_t> one(w, {n, w.size()}, 0), several(w, {n, w.size()}, 0);
    executor<add_one> to_one(
        w, {one}, {.emulate = emulation_options{.rates = {.conflict = 0.3, .other = 0.1}}});
    domain data(w), by_stm(w, {.mechanism = mechanism::stm});
    executor<add_to_two> to_two(data, {several, data}), again(by_stm, {one, by_stm});
    const auto spawn = [&](auto& op, std::uint64_t count) {
      am::epoch e(w);
      w.parallel_for(
          count,
          [&](worker_t k, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) {
              op.spawn(k, [&](auto& send) {
                for (std::uint64_t id = 0; id < n; ++id) send({id});
              });
            }
          },
          1);
      e.close();
    };
    spawn(to_one, times);
    for (const auto x : one.local()) EXPECT_EQ(x, ranks * times);
    spawn(again, times);
    for (const auto x : one.local()) EXPECT_EQ(x, 3 * ranks * times);
    const std::uint64_t lanes = 64, epochs = times;  // so many lanes are measured in each
    for (std::uint64_t i = 0; i < epochs; ++i) spawn(to_two, lanes);
    for (const auto x : several.local()) EXPECT_EQ(x, 2 * lanes * ranks * epochs);
  });
}

}  // namespace
}  // namespace cairn::activity::tuning_test
