// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>

#include <support/num_schedules.hpp>
#include <support/on_ranks.hpp>
#include <support/places.hpp>

namespace cairn::am::standing_test {
namespace {

class StandingChannel : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, StandingChannel, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, StandingChannel, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

constexpr channel_options standing{.kind = channel_kind::standing};

/// Squares of numbers, asked of any rank.
struct squares {
  struct question {
    rank_t from;
    std::uint64_t x;
  };
  explicit squares(world& w)
      : answers(
            w,
            [this](worker_t, std::span<const std::uint64_t> batch) {
              for (const auto x : batch) sum += x;
              received += batch.size();
            },
            standing),
        questions(
            w,
            [this](worker_t k, std::span<const question> batch) {
              auto send = answers.from(k);
              for (const auto& q : batch) send(q.from, q.x * q.x);
            },
            standing) {}

  std::atomic<std::uint64_t> received = 0, sum = 0;
  channel<std::uint64_t> answers;
  channel<question> questions;
};

void ask_everybody(world& w, squares& s, std::uint64_t each) {
  s.received = s.sum = 0;
  const auto ranks = static_cast<std::uint64_t>(w.size());
  w.parallel_for(each, [&](worker_t k, std::size_t begin, std::size_t end) {
    auto send = s.questions.from(k);
    for (auto i = begin; i < end; ++i) {
      for (rank_t to = 0; to < w.size(); ++to) send(to, {w.rank(), i});
    }
  });
  w.wait_until([&] { return s.received == ranks * each; });
  EXPECT_EQ(s.sum, ranks * (each - 1) * each * (2 * each - 1) / 6);
}

TEST_P(StandingChannel, AnswersOutsideEpochsInsideThemAndBetweenCollectives) {
  GetParam().run([](world& w) {
    squares s(w);
    ask_everybody(w, s, 50);
    EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
    std::atomic<std::uint64_t> counted = 0;
    channel<int> other(w, [&](worker_t, auto batch) { counted += batch.size(); });
    epoch e(w);
    for (rank_t to = 0; to < w.size(); ++to) other.send(main_worker, to, 1);
    ask_everybody(w, s, 20);
    e.close();
    EXPECT_EQ(counted, static_cast<std::uint64_t>(w.size()));
    ask_everybody(w, s, 30);
  });
}

// A rank that is late constructs its end when questions for it have arrived already.
TEST_P(StandingChannel, BuffersForAChannelThatIsNotConstructedYetWait) {
  GetParam().run([](world& w) {
    for (int round = 0; round < 10; ++round) {
      squares early(w);
      if (w.rank() == round % w.size()) {
        w.parallel_for(
            20, [](worker_t, std::size_t, std::size_t) {}, 1);
      }
      squares late(w);
      ask_everybody(w, late, 5);
      ask_everybody(w, early, 5);
    }
  });
}

TEST_P(StandingChannel, IsNotCountedByAnyEpoch) {
  GetParam().run([](world& w) {
    std::atomic<int> sent_on = 0;
    {
      channel<int>* next = nullptr;
      channel<int> sent_messages(
          w,
          [&](worker_t k, std::span<const int> batch) {
            for (const int left : batch) {
              ++sent_on;
              if (left > 0) next->send(k, (w.rank() + 1) % w.size(), left - 1);
            }
          },
          standing);
      next = &sent_messages;
      w.barrier();
      if (w.rank() == 0) sent_messages.send(main_worker, w.size() - 1, 200);
      for (int i = 0; i < 5; ++i) epoch(w).close();  // ends while messages go round
    }
    EXPECT_EQ(w.sum(static_cast<std::uint64_t>(sent_on)), 201u);
  });
}

// A standing channel makes idle workers poll between epochs. They run handlers of an epoch, which
// send, only once it is open, also if its first messages have come before.
TEST_P(StandingChannel, HandlersOfAnEpochRunWhenItIsOpen) {
  GetParam().run([](world& w) {
    const channel<int> idle_workers_poll(
        w, [](worker_t, auto) {}, standing);
    std::atomic<std::uint64_t> received = 0;
    channel<int>* self = nullptr;
    channel<int> echoes(w, [&](worker_t k, std::span<const int> batch) {
      auto send = self->from(k);
      for (const int left : batch) {
        ++received;
        if (left > 0) send((w.rank() + 1) % w.size(), left - 1);
      }
    });
    self = &echoes;
    w.barrier();
    const int epochs = w.pool().simulated() || support::sanitized ? 20 : 100;
    for (int i = 0; i < epochs; ++i) {
      epoch e(w);
      for (rank_t to = 0; to < w.size(); ++to) echoes.send(main_worker, to, 2);
      e.close();
    }
    const auto each = 3 * static_cast<std::uint64_t>(epochs * w.size());
    EXPECT_EQ(w.sum(received.load()), each * static_cast<std::uint64_t>(w.size()));
  });
}

TEST_P(StandingChannel, ItsDestructorHandlesWhatIsOnItsWay) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> received = 0;
    {
      channel<std::uint64_t> sent_messages(
          w, [&](worker_t, auto batch) { received += batch.size(); }, standing);
      for (rank_t to = 0; to < w.size(); ++to) {
        for (std::uint64_t i = 0; i < 100; ++i) sent_messages.send(main_worker, to, i);
      }
    }
    EXPECT_EQ(received, 100 * static_cast<std::uint64_t>(w.size()));
  });
}

// What another worker has sent leaves only if that worker has its turn.
TEST(StandingChannelOnOneSimulatedRank, ItsDestructorHandlesWhatOtherWorkersSent) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    support::on_simulated_ranks(1, 3, seed, [](world& w) {
      std::atomic<std::uint64_t> received = 0;
      {
        channel<std::uint64_t> sent_messages(
            w, [&](worker_t, auto batch) { received += batch.size(); }, standing);
        w.run([&](worker_t k) { sent_messages.send(k, 0, 1); });
      }
      EXPECT_EQ(received, 3u);
    });
  }
}

TEST_P(StandingChannel, IsDiscardedWhenAnExceptionIsOnItsWay) {
  const auto run = [&] {
    GetParam().run([](world& w) {
      squares s(w);
      s.questions.send(main_worker, (w.rank() + 1) % w.size(), {w.rank(), 3});
      if (w.rank() == w.size() - 1) throw std::runtime_error("the body broke");
      w.wait_until([] { return false; });
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

}  // namespace
}  // namespace cairn::am::standing_test
