// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/activity/plan.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/on_ranks.hpp>

namespace cairn::activity::plan_test {
namespace {

const environment alone{};
const environment without{.one_worker = false, .why_no_hardware = "none"};
const environment with{.one_worker = false, .hardware = true};

std::string said(const decision& d) {
  return std::string(name(d.mechanism)) + " " + std::to_string(d.grain) + ": " + d.why;
}

TEST(Decision, NamesMechanismGrainAndReasonForOneCell) {
  const auto of = [](const options& requested, const environment& here) {
    return said(decide(cells::one, requested, here));
  };
  EXPECT_EQ(of({}, alone), "plain 1: the rank has one worker");
  EXPECT_EQ(of({}, without), "atomics 1: no hardware transactions: none");
  EXPECT_EQ(of({.mechanism = mechanism::htm}, without),
            "atomics 1: no hardware transactions: none");
  EXPECT_EQ(of({}, with),
            "atomics 1: hardware transactions work here, but atomics rarely cost more");
  EXPECT_EQ(of({.grain = 8, .start = {.htm_first = true, .fitted = true}}, with),
            "htm 8: hardware transactions work here, and by the fitted costs they pay");
  EXPECT_EQ(
      of({.start = {.htm_first = false, .fitted = true}}, with),
      "atomics 1: hardware transactions work here, and by the fitted costs atomics cost less");
  EXPECT_EQ(of({.mechanism = mechanism::htm, .start = {.htm_first = false, .fitted = true}}, with),
            "htm 64: it was requested");
  EXPECT_EQ(of({.mechanism = mechanism::locks, .grain = 8}, without), "locks 1: it was requested");
}

TEST(Decision, NamesMechanismGrainAndReasonForSeveralCells) {
  const auto of = [](const options& requested, const environment& here) {
    return said(decide(cells::several, requested, here));
  };
  EXPECT_EQ(of({}, without), "locks 1: no hardware transactions: none");
  EXPECT_EQ(of({.start = {.stm_grain = 16, .stm_first = true, .fitted = true}}, without),
            "stm 16: no hardware transactions: none; it costs less by the fitted costs");
  EXPECT_EQ(of({.mechanism = mechanism::stm, .grain = 2}, alone), "stm 2: it was requested");
  EXPECT_EQ(of({.mechanism = mechanism::stm, .start = {.stm_grain = 1000}}, alone),
            "stm 512: it was requested");
}

TEST(Plan, LeavesNoChoiceToOneWorkerOrToWhatWasAskedFor) {
  EXPECT_FALSE(plan(cells::one, {}, alone, 1).tunes_workers());
  EXPECT_FALSE(plan(cells::several, {}, alone, 1).tunes_workers());
  EXPECT_FALSE(plan(cells::one, {.mechanism = mechanism::atomics}, without, 2).tunes_workers());
  EXPECT_FALSE(plan(cells::one, {.mechanism = mechanism::htm}, without, 2).tunes_workers());
  EXPECT_FALSE(plan(cells::several, {.mechanism = mechanism::locks}, without, 2).tunes_workers());
  EXPECT_FALSE(
      plan(cells::one, {.mechanism = mechanism::htm, .grain = 4}, with, 2).tunes_workers());
}

TEST(Plan, WithoutTransactionsOneCellHasAtomicsAndSeveralHaveLocksOrVersions) {
  EXPECT_FALSE(plan(cells::one, {}, without, 2).tunes_workers());
  const plan p(cells::several, {}, without, 2);
  EXPECT_TRUE(p.tunes_workers());
  EXPECT_TRUE(p.may_change_mechanism());
}

struct add_one {
  struct message {
    std::uint64_t id;
  };
  const pgas::vertex_map<std::uint64_t>& map;
  auto cell(const message& m) const { return map.at(m.id); }
  void attempt(auto x, const message&) const { x.add(1); }
};

struct add_to_two {
  struct message {
    std::uint64_t id;
  };
  const pgas::vertex_map<std::uint64_t>& map;
  void elements(const message& m, auto&& each) const {
    each(map.at(m.id));
    each(map.at(m.id ^ 1));
  }
  void attempt(auto& tx, const message& m) const {
    for (const auto id : {m.id, m.id ^ 1}) tx.write(map, id, tx.read(map, id) + 1);
  }
};

// An operator of one cell and one of several change the same map: one domain makes both atomic.
TEST(ExplicitDomain, IsSharedByOperatorsOfOneAndOfSeveralCells) {
  constexpr std::uint64_t n = 64, times = 500;
  for (const auto how : {mechanism::locks, mechanism::one_lock}) {
    SCOPED_TRACE(name(how));
    world w(2);
    pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
    domain data(w, {.mechanism = how});
    executor ones(data, add_one{map});
    executor twos(data, add_to_two{map});
    EXPECT_EQ(ones.chosen_mechanism(), how);
    am::epoch e(w);
    w.parallel_for(
        times,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          const auto all = [&](auto& send) {
            for (auto i = begin; i < end; ++i) {
              for (std::uint64_t id = 0; id < n; ++id) send({id});
            }
          };
          ones.spawn(k, all);
          twos.spawn(k, all);
        },
        5);
    e.close();
    for (const auto x : map.local()) EXPECT_EQ(x, 3 * times);
  }
}

TEST(ExplicitDomain, RefusesOneCellWhereItMayRunWhatThatCannot) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {4, 1}, 0);
  domain free(w), by_stm(w, {.mechanism = mechanism::stm});
  EXPECT_THROW(executor(free, add_one{map}), usage_error);
  EXPECT_THROW(executor(by_stm, add_one{map}), usage_error);
}

TEST(Options, AreThoseOfTheSettingsWhereAProgramLeavesThemOpen) {
  const world_options requested{
      .filter_entries = 0, .mechanism = "one-lock", .grain = 7, .retry = "hle"};
  support::on_ranks(
      1, 2,
      [](world& w) {
        pgas::vertex_map<std::uint64_t> map(w, {4, 1}, 0);
        domain data(w), other(w, {.mechanism = mechanism::locks});
        EXPECT_EQ(data.chosen_mechanism(), mechanism::one_lock);
        EXPECT_EQ(data.requested().grain, 7u);
        EXPECT_FALSE(data.requested().sent_filter);
        EXPECT_EQ(tm::name(data.requested().retry), "hle");
        EXPECT_EQ(other.chosen_mechanism(), mechanism::locks);
        EXPECT_EQ(other.requested().grain, 7u);
        EXPECT_EQ(domain(w, {.grain = 5}).requested().grain, 5u);
        EXPECT_EQ(domain(w, {.auxiliary = true}).requested().grain, 0u);
        EXPECT_EQ(executor(w, add_one{map}).chosen_mechanism(), mechanism::one_lock);
        EXPECT_EQ(executor(w, add_one{map}, options{.sent_filter = true}).chosen_mechanism(),
                  mechanism::one_lock);
        EXPECT_EQ(
            executor(w, add_one{map}, options{.mechanism = mechanism::atomics}).chosen_mechanism(),
            mechanism::atomics);
      },
      requested);
}

TEST(Domain, HoldsOnlyWhatItsEpochsNeeded) {
  world one, two(2);
  EXPECT_EQ(domain(one).locks(), nullptr);
  EXPECT_EQ(domain(one).versions(), nullptr);
  domain data(two);
  if (data.chosen_mechanism() == mechanism::locks) {
    EXPECT_EQ(data.locks(), nullptr) << "no epoch has run";
    pgas::vertex_map<std::uint64_t> map(two, {4, 1}, 0);
    executor op(data, add_to_two{map});
    am::epoch e(two);
    op.spawn(main_worker, [](auto& send) { send({0}); });
    e.close();
    EXPECT_NE(data.locks(), nullptr);
    EXPECT_EQ(data.versions(), nullptr);
  }
}

}  // namespace
}  // namespace cairn::activity::plan_test
