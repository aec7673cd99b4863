// SPDX-License-Identifier: Apache-2.0
// Requests to cancel that come while ranks wait: in collectives, destructors, full networks.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/base/error.hpp>

#include <support/places.hpp>

namespace cairn::am::stopping_test {
namespace {

class Stopping : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Stopping, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// The gather of the restart does not bring every two of eight ranks together: rank 1 could leave
// before it had taken in what rank 0 held back for it, and rank 0 waited for ever.
TEST_P(Stopping, NoRankLeavesBeforeItsPacketsAreReceived) {
  std::atomic<bool> sent = false;
  GetParam().run(
      [&](world& w) {
        channel<std::uint64_t> sent_messages(w, [](worker_t, auto) {});
        w.barrier();
        const auto run = [&] {
          epoch e(w);
          if (w.rank() == 0) {
            auto to = sent_messages.from(main_worker);
            for (std::uint64_t i = 0; i < 200'000; ++i) to(1 % w.size(), i);
            sent = true;
          }
          w.wait_until([&] { return sent.load(); });
          w.cancel();
          e.close();
        };
        EXPECT_THROW(run(), cancelled);
      },
      {.coalesce_bytes = 64});
}

// The destructor threw the request away, and the rank went on alone.
TEST_P(Stopping, ADestructorThatWaitsLeavesTheRequestToTheNextCall) {
  GetParam().run([](world& w) {
    const auto run = [&] {
      {
        channel<int> standing(w, [](worker_t, auto) {}, {.kind = channel_kind::standing});
        if (w.rank() == w.size() - 1) {
          w.cancel();
          w.parallel_for(
              4, [](worker_t, std::size_t, std::size_t) {}, 1);
        }
      }
      w.barrier();
    };
    EXPECT_THROW(run(), cancelled);
    EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
  });
}

// The others had to come to the collective first.
TEST_P(Stopping, ARankThatWaitsInACollectiveTellsTheOthers) {
  if (GetParam().ranks == 1) return;
  std::atomic<world*> first = nullptr;
  GetParam().run([&](world& w) {
    if (w.rank() == 0) first = &w;
    w.barrier();
    const auto run = [&] {
      if (w.rank() != 0) {
        bool asked = false;
        while (true) {  // only cancelling ends it
          w.parallel_for(
              10,
              [&](worker_t, std::size_t, std::size_t) {
                if (w.rank() == 1 && !asked) first.load()->cancel();
                asked = true;
              },
              10);
        }
      }
      w.barrier();
    };
    EXPECT_THROW(run(), cancelled);
    w.barrier();
  });
}

// The epoch was closed twice, and the pool never polled again.
TEST_P(Stopping, AnEpochThatHadEndedIsLeftOnce) {
  GetParam().run([](world& w) {
    const auto run = [&] {
      epoch e(w);
      w.run([&](worker_t k) {
        while (!e.try_close(k, worker_activity::idle)) {
        }
      });
      w.cancel();
      w.barrier();
    };
    EXPECT_THROW(run(), cancelled);

    // Worker 0 waits; what comes for it is taken in by the others too.
    std::uint64_t received = 0;
    request<std::uint64_t, std::uint64_t> ask(
        w, [](worker_t, std::uint64_t q) { return q + 1; },
        [&](worker_t, std::uint64_t, std::uint64_t answer) { received += answer; },
        {.kind = channel_kind::standing});
    {
      auto to = ask.from(main_worker);
      for (std::uint64_t i = 0; i < 100; ++i) to((w.rank() + 1) % w.size(), i, slot(i));
    }
    ask.finish();
    EXPECT_EQ(received, 100u * 99 / 2 + 100);
  });
}

TEST(StoppingAlone, TryCloseThrows) {
  for (const int workers : {1, 2}) {
    world w(workers);
    epoch e(w);
    e.hold(main_worker);
    w.cancel();
    EXPECT_THROW(w.run([&](worker_t k) {
      while (!e.try_close(k, worker_activity::busy)) {
      }
    }),
                 cancelled);
  }
}

// A handler that always sends keeps the rank at work.
TEST_P(Stopping, AnEpochThatNeverRunsDryStops) {
  GetParam().run([](world& w) {
    std::atomic<int> handled = 0;
    const auto run = [&] {
      std::unique_ptr<channel<int>> sent_messages;
      sent_messages =
          std::make_unique<channel<int>>(w, [&](worker_t k, std::span<const int> batch) {
            if ((handled += static_cast<int>(batch.size())) > 1000 && w.rank() == 0) w.cancel();
            auto to = sent_messages->from(k);
            for (const int m : batch) to((w.rank() + m) % w.size(), m);
          });
      epoch e(w);
      sent_messages->send(main_worker, w.rank(), 1);
      e.close();
    };
    EXPECT_THROW(run(), cancelled);
    w.barrier();
  });
}

// An answer that another worker took in was left for a worker that never waits.
TEST_P(Stopping, AWorkerThatOnlyMakesProgressGetsItsAnswers) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> received = 0;
    request<std::uint64_t, std::uint64_t> ask(
        w, [](worker_t, std::uint64_t q) { return q; },
        [&](worker_t, std::uint64_t, std::uint64_t) { ++received; },
        {.kind = channel_kind::standing});
    for (std::uint64_t round = 1; round <= 20; ++round) {
      {
        auto to = ask.from(main_worker);
        for (std::uint64_t i = 0; i < 10; ++i) to((w.rank() + 1) % w.size(), i, slot(i));
      }
      // The first question's block leaves when it is old.
      while (received < 10 * round) EXPECT_TRUE(w.progress(main_worker));
    }
    w.barrier();
  });
}

}  // namespace
}  // namespace cairn::am::stopping_test
