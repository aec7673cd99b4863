// SPDX-License-Identifier: Apache-2.0
#include <activity/all_settings.hpp>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::return_test {
namespace {

using obs::counter;

constexpr std::uint32_t nobody = no_vertex<std::uint32_t>;
constexpr std::uint64_t elements = 30, questions = 150;

struct question {
  std::uint32_t id;     // of the element that is asked
  std::uint32_t asker;  // rank
  std::uint32_t number;
};

/// What came back for each question of this rank, and what happened to each element.
struct record {
  std::vector<std::atomic<std::uint32_t>> answers =
      std::vector<std::atomic<std::uint32_t>>(questions);
  std::vector<std::atomic<std::uint32_t>> done = std::vector<std::atomic<std::uint32_t>>(questions);
  std::vector<std::atomic<std::uint32_t>> values =
      std::vector<std::atomic<std::uint32_t>>(questions);
  std::atomic<std::uint32_t> effects = 0, strays = 0;
};

struct asks {
  using message = question;
  const world& w;
  pgas::vertex_map<std::uint32_t>& map;
  record& seen;

  auto cell(const question& q) const { return map.at(q.id); }
  void answer(const question& q, const outcome<std::uint32_t>& result) {
    if (static_cast<rank_t>(q.asker) != w.rank()) ++seen.strays;
    ++seen.answers[q.number];
    seen.done[q.number] += result.done;
    seen.values[q.number] = result.value;
  }
};

struct take_ticket : asks {  // always succeeds, and returns how many were taken before
  bool wanted(std::uint32_t, const question&) const { return true; }
  std::uint32_t attempt(auto x, const question&) const { return x.add(1); }
  void after(const question&, std::uint32_t) { ++seen.effects; }
};
struct claim_once : asks {  // may fail, and says who was there first
  bool wanted(std::uint32_t x, const question&) const { return x == nobody; }
  outcome<std::uint32_t> attempt(auto x, const question& q) const {
    const auto me = q.asker * 1000 + q.number;
    const auto found = x.claim(nobody, me);
    return {found == nobody, found == nobody ? me : found};
  }
  void after(const question&) { ++seen.effects; }
};

static_assert(fire_and_return<take_ticket> && kind<take_ticket>::always_succeeds);
static_assert(fire_and_return<claim_once> && !kind<claim_once>::always_succeeds);
static_assert(!filtered<claim_once>, "an answer is due even if the mirror knows it");

class Return : public ::testing::TestWithParam<support::place> {
 protected:
  static std::uint32_t element_of(rank_t asker, std::uint64_t number) {
    auto random = random64(static_cast<std::uint64_t>(asker)).stream(number);
    return static_cast<std::uint32_t>(random.below(2) == 0 ? random.below(3)
                                                           : random.below(elements));
  }

  // Every rank asks all its questions; check(world, map, record, counted answers) judges.
  template <class Op, class Check>
  void in_all_settings(std::uint32_t initial, Check&& check) {
    const auto settings = all_settings(GetParam().workers);
    const std::size_t stride = GetParam().simulated() ? 1 : 5;
    GetParam().run([&](world& w) {
      for (std::size_t i = GetParam().workers - 1; i < settings.size(); i += stride) {
        SCOPED_TRACE(settings[i].name);
        pgas::vertex_map<std::uint32_t> map(w, {elements, w.size()}, initial);
        record seen;
        const auto before = w.counters().total(counter::answers);
        {
          executor<Op> op(w, Op{{w, map, seen}}, settings[i].options);
          am::epoch e(w);
          w.parallel_for(
              questions,
              [&](worker_t k, std::size_t begin, std::size_t end) {
                op.spawn(k, [&](auto& ask) {
                  for (auto q = static_cast<std::uint32_t>(begin); q < end; ++q) {
                    ask({element_of(w.rank(), q), static_cast<std::uint32_t>(w.rank()), q});
                  }
                });
              },
              13);
          e.close();
        }
        EXPECT_EQ(seen.strays, 0u);
        for (const auto& n : seen.answers) EXPECT_EQ(n, 1u);
        EXPECT_EQ(w.counters().total(counter::answers) - before, questions);
        check(w, w.all_gather_values<std::uint32_t>(map.local()), seen);
      }
    });
  }
};

INSTANTIATE_TEST_SUITE_P(Everywhere, Return, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Return, EveryTicketIsGivenOnceAndReportedToItsSender) {
  in_all_settings<take_ticket>(0, [](world& w, const auto& taken, const record& seen) {
    std::vector<std::vector<bool>> given(elements);
    for (std::uint64_t v = 0; v < elements; ++v) given[v].resize(taken[v]);
    std::vector<std::uint32_t> mine(seen.values.begin(), seen.values.end());
    const auto all = w.all_gather_values<std::uint32_t>(mine);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto v = element_of(static_cast<rank_t>(i / questions), i % questions);
      ASSERT_LT(all[i], given[v].size());
      EXPECT_FALSE(given[v][all[i]]) << "ticket " << all[i] << " of " << v << " twice";
      given[v][all[i]] = true;
    }
    EXPECT_EQ(w.sum(std::uint64_t{seen.effects}), all.size());
    for (const auto& d : seen.done) EXPECT_EQ(d, 1u);
  });
}

TEST_P(Return, AFailedOrUnwantedMessageIsAnsweredToo) {
  in_all_settings<claim_once>(nobody, [](world& w, const auto& winner, const record& seen) {
    std::uint64_t won = 0;
    for (std::uint32_t q = 0; q < questions; ++q) {
      const auto me = static_cast<std::uint32_t>(w.rank()) * 1000 + q;
      const auto first = winner[element_of(w.rank(), q)];
      EXPECT_EQ(seen.done[q], first == me ? 1u : 0u);
      // Not done: the attempt's word, or nothing where it was not even begun.
      const std::uint32_t answered = seen.values[q];
      EXPECT_TRUE(answered == first || (answered == 0 && first != me)) << answered << " " << first;
      won += seen.done[q];
    }
    std::uint64_t claimed = 0;
    for (const auto x : winner) claimed += x != nobody;
    EXPECT_EQ(w.sum(won), claimed);
    EXPECT_EQ(w.sum(std::uint64_t{seen.effects}), claimed);
  });
}

/// Each answer asks again, elsewhere, until it has been told `hops` times.
struct walk {
  struct message {
    std::uint32_t id, hops;
  };
  pgas::vertex_map<std::uint64_t>& visits;
  std::atomic<std::uint64_t>& ends;

  auto cell(const message& m) const { return visits.at(m.id); }
  bool wanted(std::uint64_t, const message&) const { return true; }
  std::uint64_t attempt(auto x, const message&) const { return x.add(1); }
  void answer(const message& m, const outcome<std::uint64_t>&, auto& at) {
    if (m.hops == 0) {
      ++ends;
    } else {
      at({static_cast<std::uint32_t>(mix64(m.id + m.hops) % elements), m.hops - 1});
    }
  }
};

TEST_P(Return, AnswersMayAskAgainAndHoldTheEpochOpen) {
  const auto settings = all_settings(GetParam().workers);
  GetParam().run(
      [&](world& w) {
        for (std::size_t i = 0; i < settings.size(); i += 4) {
          SCOPED_TRACE(settings[i].name);
          constexpr std::uint32_t hops = 20, walks = 10;
          pgas::vertex_map<std::uint64_t> visits(w, {elements, w.size()}, 0);
          std::atomic<std::uint64_t> ends = 0;
          executor<walk> op(w, walk{visits, ends}, settings[i].options);
          am::epoch e(w);
          op.spawn(main_worker, [&](auto& ask) {
            for (std::uint32_t k = 0; k < walks; ++k) ask({k, hops});
          });
          e.close();
          EXPECT_EQ(ends, walks);
          std::uint64_t mine = 0;
          for (const auto x : visits.local()) mine += x;
          EXPECT_EQ(w.sum(mine), (hops + 1) * walks * static_cast<std::uint64_t>(w.size()));
        }
      },
      {.coalesce_bytes = 32, .coalesce_age_ns = 0});
}

/// Moves one unit between two accounts of one owner, if there is one; tells what is left.
struct withdraw {
  struct message {
    std::uint32_t from, to;
  };
  const pgas::vertex_map<std::uint64_t>& accounts;
  std::atomic<std::uint64_t>&done, &refused;

  void elements(const message& m, auto&& each) const {
    each(accounts.at(m.from));
    each(accounts.at(m.to));
  }
  outcome<std::uint64_t> attempt(auto& tx, const message& m) const {
    const auto left = tx.read(accounts, m.from);
    if (left == 0) return {false, 0};
    tx.write(accounts, m.from, left - 1);
    tx.write(accounts, m.to, tx.read(accounts, m.to) + 1);
    return {true, left - 1};
  }
  void answer(const message&, const outcome<std::uint64_t>& result) {
    ++(result.done ? done : refused);
  }
};

TEST_P(Return, SeveralElementsAnswerAsOne) {
  auto settings = all_settings(GetParam().workers);
  settings.insert(settings.begin(), {"stm", {.mechanism = mechanism::stm, .grain = 4}});
  GetParam().run([&](world& w) {
    for (std::size_t i = 0; i < settings.size(); i += 3) {
      auto setting = settings[i].options;
      if (setting.mechanism == mechanism::atomics) continue;
      SCOPED_TRACE(settings[i].name);
      const auto ranks = static_cast<std::uint32_t>(w.size());
      constexpr std::uint32_t of_a_rank = 4, tries = 120;
      pgas::vertex_map<std::uint64_t> accounts(w, {of_a_rank * ranks, w.size()}, 5);
      std::atomic<std::uint64_t> done = 0, refused = 0;
      domain money(w, setting);
      executor<withdraw> op(money, withdraw{accounts, done, refused});
      am::epoch e(w);
      op.spawn(main_worker, [&](auto& ask) {
        for (std::uint32_t k = 0; k < tries; ++k) {
          const auto bank = k % ranks * of_a_rank;  // all to one account, so that others run dry
          ask({bank + 1 + k / ranks % (of_a_rank - 1), bank});
        }
      });
      e.close();
      EXPECT_EQ(done + refused, tries);
      std::uint64_t moved = 0, total = 0;
      for (std::size_t v = 0; v < accounts.local().size(); ++v) {
        total += accounts.local()[v];
        if (v % of_a_rank == 0) moved += accounts.local()[v] - 5;
      }
      EXPECT_EQ(w.sum(total), 5u * of_a_rank * ranks);
      EXPECT_EQ(w.sum(moved), w.sum(std::uint64_t{done}));
    }
  });
}

struct breaks : take_ticket {
  void answer(const question&, const outcome<std::uint32_t>&) {
    throw std::runtime_error("the answer broke");
  }
};

TEST(ReturnFailure, AnAnswerThatThrowsEndsTheEpochEverywhere) {
  std::atomic<int> heard = 0;
  EXPECT_THROW(support::on_ranks(3, 2,
                                 [&](world& w) {
                                   pgas::vertex_map<std::uint32_t> map(w, {elements, 3}, 0);
                                   record seen;
                                   executor<breaks> op(w, breaks{{{w, map, seen}}});
                                   am::epoch e(w);
                                   if (w.rank() == 1) {
                                     op.spawn(main_worker, [](auto& ask) { ask({0, 1, 0}); });
                                   }
                                   try {
                                     e.close();
                                   } catch (const peer_failure&) {
                                     ++heard;
                                     throw;
                                   }
                                 }),
               std::exception);
  EXPECT_GE(heard, 2);
}

}  // namespace
}  // namespace cairn::activity::return_test
