// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::cancel_test {
namespace {

class Cancel : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Cancel, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

/// Collectives of both kinds and loops, without end. Each rank notes the collective that it is in.
void run_for_ever(world& w, std::uint64_t& collectives, const std::function<void()>& in_a_chunk) {
  for (;;) {
    w.parallel_for(
        40, [&](worker_t, std::size_t, std::size_t) { in_a_chunk(); }, 1);
    ++collectives;
    EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
    ++collectives;
    EXPECT_EQ(w.all_gather(w.rank()).size(), static_cast<std::size_t>(w.size()));
  }
}

TEST_P(Cancel, StopsAllRanksAtTheSameCollectiveAndLeavesTheWorldUsable) {
  GetParam().run([](world& w) {
    for (std::uint64_t round = 0; round < 10; ++round) {
      const auto who = static_cast<rank_t>(mix64(round) % static_cast<std::uint64_t>(w.size()));
      std::atomic<std::uint64_t> chunks = 0;
      std::uint64_t collectives = 0;
      const auto run = [&] {
        run_for_ever(w, collectives, [&] {
          if (++chunks == 1 + mix64(round) % 200 && w.rank() == who) w.cancel();
        });
      };
      EXPECT_THROW(run(), cancelled);
      // A rank that stops in a loop has not counted the collective in which the others stop.
      for (const auto c : w.all_gather(collectives)) {
        EXPECT_LE(collectives > c ? collectives - c : c - collectives, 1u);
      }
      EXPECT_EQ(w.sum(static_cast<std::uint64_t>(w.rank())),
                static_cast<std::uint64_t>(w.size() * (w.size() - 1) / 2));
    }
  });
}

TEST_P(Cancel, EndsALoopAtItsNextChunk) {
  GetParam().run([](world& w) {
    std::atomic<int> chunks = 0, late = 0;
    std::atomic<bool> asked = false;
    const auto loop = [&] {
      w.parallel_for(
          100'000,
          [&](worker_t, std::size_t, std::size_t) {
            if (asked) ++late;
            if (++chunks != 5) return;
            w.cancel();
            asked = true;
          },
          1);
      w.barrier();
    };
    EXPECT_THROW(loop(), cancelled);
    EXPECT_LE(late, w.workers()) << "more than the chunk that each worker had begun";
    w.barrier();
  });
}

TEST_P(Cancel, EndsAWaitThatWouldNeverEnd) {
  GetParam().run([](world& w) {
    const auto wait = [&] {
      if (w.rank() == w.size() - 1) w.cancel();
      w.wait_until([] { return false; });
    };
    EXPECT_THROW(wait(), cancelled);
    w.barrier();
  });
}

TEST_P(Cancel, WhenAllRanksAskAtOnceEachThrowsOnce) {
  GetParam().run([](world& w) {
    for (int round = 0; round < 20; ++round) {
      w.cancel();
      EXPECT_THROW(w.barrier(), cancelled);
      w.barrier();
    }
  });
}

// A failure while the ranks stop together ends them all.
TEST_P(Cancel, PoisonGoesBefore) {
  std::atomic<int> notified = 0;
  GetParam().run([&](world& w) {
    const auto run = [&] {
      if (w.rank() == 0) w.cancel();
      if (w.rank() == w.size() - 1) w.poison("disk full");
      for (;;) w.barrier();
    };
    try {
      run();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const peer_failure&) {
      ++notified;
    } catch (const cancelled&) {
      ADD_FAILURE() << "one rank believes that all have stopped";
    }
  });
  EXPECT_EQ(notified, GetParam().ranks);
}

}  // namespace
}  // namespace cairn::cancel_test
