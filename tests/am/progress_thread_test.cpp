// SPDX-License-Identifier: Apache-2.0
// What a rank does while its only worker computes and does not poll.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>

#include <support/places.hpp>

namespace cairn::am::progress_thread_test {
namespace {

using steady = std::chrono::steady_clock;
using network = support::place::network;

constexpr auto patience = std::chrono::seconds(30);

// One chunk of work, which ends when `done` holds, or in vain.
template <class Done>
bool compute_until(world& w, std::uint64_t max_steps, Done&& done) {
  const auto deadline = steady::now() + patience;
  bool seen = false;
  w.parallel_for(1, [&](worker_t, std::size_t, std::size_t) {
    for (std::uint64_t step = 0; step < max_steps && steady::now() < deadline; ++step) {
      seen = done();
      if (seen) return;
      w.pool().switch_point();
    }
  });
  return seen;
}

class ProgressThread : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Served, ProgressThread, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

constexpr std::uint64_t without_bound = ~std::uint64_t{0};

struct two_ranks {
  std::atomic<bool> answered = false;
};

// Rank 1 computes until rank 0 has its answers. Returns whether it saw them.
bool asks_a_busy_rank(world& w, two_ranks& both, std::uint64_t max_steps) {
  std::uint64_t received = 0;
  request<std::uint64_t, std::uint64_t> squares(
      w, [](worker_t, std::uint64_t x) { return x * x; },
      [&](worker_t, std::uint64_t, std::uint64_t square) { received += square; },
      {.kind = channel_kind::standing});
  bool seen = false;
  w.barrier();
  if (w.rank() == 0) {
    auto ask = squares.from(main_worker);
    for (std::uint64_t x = 1; x <= 100; ++x) ask(1, x, slot(x));
    squares.finish();
    EXPECT_EQ(received, 338'350u);
    both.answered = true;
  } else if (w.rank() == 1) {
    seen = compute_until(w, max_steps, [&] { return both.answered.load(); });
  }
  w.barrier();
  return seen;
}

TEST_P(ProgressThread, AnswersWhileTheWorkersCompute) {
  two_ranks both;
  std::atomic<bool> seen = false;
  GetParam().run([&](world& w) {
    if (asks_a_busy_rank(w, both, without_bound)) seen = true;
  });
  EXPECT_TRUE(seen) << "rank 1 gave up";
}

// The broken twin: without the thread nothing answers.
TEST(ProgressThread, IsWhatAnswers) {
  two_ranks both;
  std::atomic<bool> seen = false;
  support::place{network::simulated, 2, 1}.run([&](world& w) {
    if (asks_a_busy_rank(w, both, 100'000)) seen = true;
  });
  EXPECT_FALSE(seen);
  EXPECT_TRUE(both.answered);
}

// Rank 1 computes while a handler there has to send on an epoch's channel.
TEST_P(ProgressThread, SendsWhatItsHandlersSendInAnEpoch) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> came = 0;
    std::atomic<bool> forwarded = false;
    channel<std::uint64_t> counted(w, [&](worker_t, auto batch) { came += batch.size(); });
    channel<std::uint64_t> messages(w,
                                    [&](worker_t k, std::span<const std::uint64_t> batch) {
                                      for (const auto x : batch) counted.send(k, 0, x);
                                      forwarded = true;
                                    },
                                    {.kind = channel_kind::standing});
    epoch e(w);
    w.barrier();
    if (w.rank() == 0) {
      messages.send(main_worker, 1, 7);
    } else if (w.rank() == 1) {
      EXPECT_TRUE(compute_until(w, without_bound, [&] { return forwarded.load(); }));
    }
    e.close();
    EXPECT_EQ(came, w.rank() == 0 ? 1u : 0u);
  });
}

// Rank 1 computes while a handler there has to ask rank 0, and then waits for the answer.
TEST_P(ProgressThread, TakesInTheAnswersToWhatItsHandlersAsk) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> received = 0;
    std::atomic<bool> asked = false;
    request<std::uint64_t, std::uint64_t> squares(
        w, [](worker_t, std::uint64_t x) { return x * x; },
        [&](worker_t, std::uint64_t, std::uint64_t square) { received += square; },
        {.kind = channel_kind::standing});
    channel<std::uint64_t> messages(w,
                                    [&](worker_t k, std::span<const std::uint64_t> batch) {
                                      auto ask = squares.from(k);
                                      for (const auto x : batch) ask(0, x, slot(0));
                                      asked = true;
                                    },
                                    {.kind = channel_kind::standing});
    w.barrier();
    if (w.rank() == 0) {
      messages.send(main_worker, 1, 7);
    } else if (w.rank() == 1) {
      EXPECT_TRUE(compute_until(w, without_bound, [&] { return asked.load(); }));
      squares.finish();
      EXPECT_EQ(received, 49u);
    }
    w.barrier();
  });
}

// Handlers of an epoch may change elements without atomics if the rank has one worker.
TEST_P(ProgressThread, LeavesHandlersOfEpochsToTheWorkers) {
  GetParam().run([](world& w) {
    std::atomic<int> others = 0;
    channel<int> messages(w, [&](worker_t k, auto) {
      if (k >= w.workers()) ++others;
    });
    for (int round = 0; round < 20; ++round) {
      epoch e(w);
      w.parallel_for(
          50,
          [&](worker_t k, std::size_t i, std::size_t) {
            messages.send(k, static_cast<rank_t>(i) % w.size(), 1);
          },
          1);
      e.close();
    }
    EXPECT_EQ(others, 0);
  });
}

}  // namespace
}  // namespace cairn::am::progress_thread_test
