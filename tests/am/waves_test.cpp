// SPDX-License-Identifier: Apache-2.0
// How many waves end an epoch, and what they carry.
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/am/ticket.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/places.hpp>

namespace cairn::am::waves_test {
namespace {

class Waves : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Waves, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// A message from each rank to each, whose handler adds up.
struct adding {
  adding(world& the_world, bool sends)
      : w(the_world),
        messages(w,
                 [this](worker_t, std::span<const std::uint64_t> batch) {
                   for (const auto x : batch) sum += x;
                 },
                 {.sends = sends}) {}
  void send_to_all() {
    for (rank_t to = 0; to < w.size(); ++to) messages.send(main_worker, to, 3);
  }
  world& w;
  std::atomic<std::uint64_t> sum = 0;
  channel<std::uint64_t> messages;
};

TEST_P(Waves, CarryTheSumsAtTheEndOfTheEpoch) {
  GetParam().run([](world& w) {
    const auto ranks = static_cast<std::uint64_t>(w.size());
    for (const bool sends : {false, true}) {
      adding a(w, sends);
      for (std::uint64_t round = 1; round <= 20; ++round) {
        epoch e(w);
        a.send_to_all();
        const auto sums = e.close_and_sum([&] { return std::array{a.sum.load(), round}; });
        EXPECT_EQ(sums, (std::array{3 * ranks * ranks * round, ranks * round}));
      }
    }
  });
}

// The waves of 20 epochs that end(epoch) ends.
std::uint64_t waves_of_epochs(world& w, auto&& end) {
  for (int i = 0; i < 20; ++i) {
    epoch e(w);
    end(e);
  }
  EXPECT_EQ(w.counters().total(obs::counter::epochs), 20u);
  return w.counters().total(obs::counter::waves);
}

void try_to_the_end(world& w, epoch& e) {
  w.run([&](worker_t k) {
    while (!e.try_close(k, worker_activity::idle)) {
    }
  });
}

TEST_P(Waves, OneEndsAnEmptyEpoch) {
  GetParam().run([](world& w) {
    const auto waves = waves_of_epochs(w, [](epoch& e) { e.close(); });
    EXPECT_EQ(waves, w.size() == 1 ? 0u : 20u);
  });
}

TEST_P(Waves, TwoAreNeededIfAMessageLeadsToOthers) {
  GetParam().run([](world& w) {
    adding a(w, true);
    const auto waves = waves_of_epochs(w, [&](epoch& e) {
      a.send_to_all();
      e.close();
    });
    if (w.size() == 1) {
      EXPECT_EQ(waves, 0u);
    } else {
      EXPECT_GE(waves, 40u);
    }
  });
}

TEST_P(Waves, TwoEndAnEpochThatWasHeld) {
  GetParam().run([](world& w) {
    const auto waves = waves_of_epochs(w, [](epoch& e) {
      e.hold(main_worker);
      e.release(main_worker);
      e.close();
    });
    EXPECT_EQ(waves, w.size() == 1 ? 0u : 40u);
  });
}

TEST_P(Waves, TwoEndAnEpochByTryClose) {
  GetParam().run([](world& w) {
    const auto waves = waves_of_epochs(w, [&](epoch& e) { try_to_the_end(w, e); });
    EXPECT_EQ(waves, w.size() == 1 ? 0u : 40u);
  });
}

// A rank's own messages have been handled when it joins a wave.
TEST(WavesOfOneWorker, AreOneOrTwoByWhatHandlersMayDo) {
  for (const bool sends : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      support::on_simulated_ranks(3, 1, seed, [&](world& w) {
        adding a(w, sends);
        epoch e(w);
        a.messages.send(main_worker, w.rank(), 3);
        e.close();
        EXPECT_EQ(w.counters().total(obs::counter::waves), sends ? 2u : 1u);
        epoch(w).close();  // the messages of earlier epochs do not matter
        EXPECT_EQ(w.counters().total(obs::counter::waves), sends ? 3u : 2u);
      });
    }
  }
}

// Rank 1 waits in close() for what its own handler of a standing message sends in this epoch.
TEST_P(Waves, CountWhatStandingHandlersSend) {
  GetParam().run([](world& w) {
    for (const bool destroys : {false, true}) {
      adding a(w, false);
      std::optional<request<std::uint64_t, std::uint64_t>> asks(
          std::in_place, w,
          [&](worker_t k, std::uint64_t x) {
            for (rank_t to = 0; to < w.size(); ++to) a.messages.send(k, to, x);
            return x;
          },
          [](worker_t, std::uint64_t, std::uint64_t) {},
          request_options{.kind = channel_kind::standing});
      for (int round = 1; round <= 10; ++round) {
        epoch e(w);
        w.barrier();
        if (w.rank() == 0) {
          asks->from(main_worker)(w.size() - 1, 3, slot(0));
          asks->finish();
        }
        if (destroys && round == 10) asks.reset();
        e.close();
        EXPECT_EQ(a.sum, static_cast<std::uint64_t>(3 * round));
      }
    }
  });
}

TEST_P(Waves, EndForRanksThatCloseAndRanksThatTry) {
  GetParam().run([](world& w) {
    for (const bool sends : {false, true}) {
      adding a(w, sends);
      for (std::uint64_t round = 1; round <= 10; ++round) {
        epoch e(w);
        a.send_to_all();
        if ((static_cast<std::uint64_t>(w.rank()) + round) % 2 == 0) {
          e.close();
        } else {
          try_to_the_end(w, e);
        }
        EXPECT_EQ(a.sum, 3 * round * static_cast<std::uint64_t>(w.size()));
      }
    }
  });
}

// The handlers of a channel that excludes it send. Either nothing is lost, or the world fails.
TEST(WavesOfOneWorker, RefuseAnEndThatAHandlerHasMadeWrong) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    try {
      support::on_simulated_ranks(4, 1, seed, [&](world& w) {
        std::uint64_t handled = 0;
        channel<int>* self = nullptr;
        channel<int> messages(w,
                              [&](worker_t k, std::span<const int> batch) {
                                handled += batch.size();
                                for (const int left : batch) {
                                  if (left > 0) self->send(k, (w.rank() + 1) % w.size(), left - 1);
                                }
                              },
                              {.sends = false});
        self = &messages;
        epoch e(w);
        messages.send(main_worker, (w.rank() + 1) % w.size(), 5);
        e.close();
        EXPECT_EQ(w.sum(handled), 24u) << "seed " << seed;
      });
    } catch (const contract_violation& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("sends = false"), std::string::npos) << e.what();
    } catch (const peer_failure& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find("sends = false"), std::string::npos) << e.what();
    }
  }
  EXPECT_GT(refused, 10u);
}

}  // namespace
}  // namespace cairn::am::waves_test
