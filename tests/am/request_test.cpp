// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/random.hpp>

#include <support/places.hpp>

namespace cairn::am::request_test {
namespace {

class Request : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Request, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, Request, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

constexpr std::uint64_t each = 400;

std::uint64_t value_at(rank_t r, std::uint64_t i) {
  return mix64(static_cast<std::uint64_t>(r) << 32 | i);
}

/// Gathers `each` elements per rank from random places; slot s asks for element s of rank s mod P.
struct gather {
  using get = request<std::uint32_t, std::uint64_t>;

  gather(world& the_world, const request_options& opt)
      : w(the_world),
        copies(each),
        times(each),
        asked_by(each),
        ask(
            w, [this](worker_t, std::uint32_t i) { return value_at(w.rank(), i); },
            [this](worker_t k, std::uint64_t slot, std::uint64_t x) {
              copies[slot] = x;
              ++times[slot];
              wrong_worker += asked_by[slot] == k ? 0 : 1;
              ++received;
            },
            opt) {}

  void ask_all() {
    received = 0;
    for (auto& t : times) t = 0;
    w.parallel_for(
        each,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto to = ask.from(k);
          for (auto s = begin; s < end; ++s) {
            asked_by[s] = k;
            to(static_cast<rank_t>(s) % w.size(), static_cast<std::uint32_t>(s), slot(s));
          }
        },
        10);
  }
  void judge() {
    EXPECT_EQ(received, each);
    EXPECT_EQ(wrong_worker, 0);
    for (std::uint64_t s = 0; s < each; ++s) {
      EXPECT_EQ(times[s], 1) << s;
      EXPECT_EQ(copies[s], value_at(static_cast<rank_t>(s) % w.size(), s)) << s;
    }
  }

  world& w;
  std::vector<std::uint64_t> copies;
  std::vector<std::atomic<int>> times;
  std::vector<worker_t> asked_by;
  std::atomic<std::uint64_t> received = 0;
  std::atomic<int> wrong_worker = 0;
  get ask;
};

TEST_P(Request, InAnEpochAllAnswersAreReceivedWhenItEnds) {
  for (const std::uint32_t unanswered : {1u, 7u, 65'536u}) {
    GetParam().run(
        [&](world& w) {
          gather g(w, {.max_unanswered = unanswered});
          for (int round = 0; round < 3; ++round) {
            epoch e(w);
            g.ask_all();
            e.close();
            g.judge();
          }
        },
        {.coalesce_bytes = 128});
  }
}

TEST_P(Request, StandingOnesNeedNoEpoch) {
  for (const std::uint32_t unanswered : {1u, 65'536u}) {
    GetParam().run(
        [&](world& w) {
          gather g(w, {.kind = channel_kind::standing, .max_unanswered = unanswered});
          for (int round = 0; round < 3; ++round) {
            g.ask_all();
            g.ask.finish();
            g.judge();
          }
        },
        {.coalesce_bytes = 128});
  }
}

// With one rank the body may go on after an exception.
TEST(RequestOnOneRank, AnAbandonedEpochLeavesNeitherCreditsNorQuestions) {
  for (const int workers : {1, 2}) {
    world w(workers);
    gather g(w, {.max_unanswered = 4});
    for (int round = 0; round < 3; ++round) {
      const auto leave = [&] {
        epoch e(w);
        g.ask_all();
        throw std::runtime_error("the body broke");
      };
      EXPECT_THROW(leave(), std::runtime_error);
      epoch e(w);
      g.ask_all();
      e.close();
      g.judge();
    }
  }
}

// The other worker takes answers in while the body leaves.
TEST(RequestOnOneRank, ReceivesNothingOnceItCannotAskAgain) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    support::on_simulated_ranks(1, 2, seed, [seed](world& w) {
      auto token = std::make_shared<int>();  // until the channel of the questions has ended
      const std::weak_ptr watched(token);
      std::atomic<int> late = 0;
      const auto leave = [&] {
        request<std::uint64_t, std::uint64_t> ask(
            w, [alive = std::move(token)](worker_t, std::uint64_t i) { return i; },
            [&](worker_t, std::uint64_t, std::uint64_t) { late += watched.expired(); },
            {.kind = channel_kind::standing, .coalesce_bytes = 64});
        {
          auto to = ask.from(main_worker);
          for (std::uint64_t i = 0; i < 100; ++i) to(0, i, slot(i));
        }
        for (auto i = seed % 8; i > 0; --i) static_cast<void>(w.progress());
        throw std::runtime_error("the body broke");
      };
      EXPECT_THROW(leave(), std::runtime_error);
      EXPECT_EQ(late, 0) << "seed " << seed;
    });
  }
}

// Each worker keeps the questions that come, and answers them in its own loop.
TEST_P(Request, AnswersMayBeGivenLater) {
  GetParam().run(
      [](world& w) {
        using get = request<std::uint32_t, std::uint64_t>;
        struct waiting {
          rank_t from;
          get::ticketed_question q;
        };
        task::per_worker<std::vector<waiting>> later(w.workers());
        std::vector<std::uint64_t> copies(each);
        get ask(
            w,
            [&](worker_t k, rank_t from, std::span<const get::ticketed_question> batch) {
              hold(w, k, batch.size());
              for (const auto& q : batch) later[k].push_back({from, q});
            },
            [&](worker_t, std::span<const get::ticketed_answer> batch) {
              for (const auto& a : batch) copies[a.to.number()] = a.answer;
            },
            {.max_unanswered = 50});
        epoch e(w);
        {
          auto to = ask.from(main_worker);
          for (std::uint32_t s = 0; s < each; ++s)
            to(static_cast<rank_t>(s) % w.size(), s, slot(s));
        }
        w.run([&](worker_t k) {
          for (auto state = worker_activity::idle; !e.try_close(k, state);) {
            auto mine = std::exchange(later[k], {});
            state = mine.empty() ? worker_activity::idle : worker_activity::busy;
            auto answer = ask.answer_from(k);
            for (const auto& [from, q] : mine) answer(from, q.by, value_at(w.rank(), q.question));
            release(w, k, mine.size());
          }
        });
        for (std::uint64_t s = 0; s < each; ++s) {
          EXPECT_EQ(copies[s], value_at(static_cast<rank_t>(s) % w.size(), s)) << s;
        }
      },
      {.coalesce_bytes = 128});
}

// Pointer chasing: the receiver asks for what the answer names.
TEST_P(Request, AReceiverMayAskAgain) {
  constexpr int chains = 20;
  static constexpr std::uint64_t length = 30;
  GetParam().run([](world& w) {
    using next = request<std::uint64_t, std::uint64_t>;
    std::vector<std::uint64_t> hops(chains), at(chains);
    next* self = nullptr;
    const auto owner = [&](std::uint64_t i) {
      return static_cast<rank_t>(i % static_cast<std::uint64_t>(w.size()));
    };
    next follow(
        w, [](worker_t, std::uint64_t i) { return mix64(i); },
        [&](worker_t k, std::uint64_t slot, std::uint64_t i) {
          at[slot] = i;
          if (++hops[slot] < length) self->from(k)(owner(i), i, am::slot(slot));
        },
        {.max_unanswered = 3});
    self = &follow;
    epoch e(w);
    {
      auto ask = follow.from(main_worker);
      for (std::uint64_t c = 0; c < chains; ++c) ask(owner(c), c, slot(c));
    }
    e.close();
    for (std::uint64_t c = 0; c < chains; ++c) {
      std::uint64_t expected = c;
      for (std::uint64_t i = 0; i < length; ++i) expected = mix64(expected);
      EXPECT_EQ(hops[c], length);
      EXPECT_EQ(at[c], expected);
    }
  });
}

}  // namespace
}  // namespace cairn::am::request_test
