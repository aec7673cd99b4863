// SPDX-License-Identifier: Apache-2.0
// Channels whose messages compute their owner, under every routing scheme.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/route.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/per_worker.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::am::routing_test {
namespace {

using obs::counter;
using network = support::place::network;

constexpr routing schemes[] = {routing::direct, routing::grid, routing::hypercube,
                               routing::machine};

// Two machines, with ranks dealt in turns.
world_options options_of(routing scheme, rank_t ranks) {
  return {.coalesce_bytes = 64, .routing = scheme, .machines = machine_layout::dealt(ranks, 2)};
}

class Routing : public ::testing::TestWithParam<support::place> {
 protected:
  static void under_every_scheme(const std::function<void(world&)>& body) {
    for (const auto scheme : schemes) {
      SCOPED_TRACE(static_cast<int>(scheme));
      GetParam().run(body, options_of(scheme, GetParam().ranks));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Everywhere, Routing, ::testing::ValuesIn([] {
                           std::vector<support::place> all;
                           for (const rank_t ranks : {1, 2, 3, 4, 5, 8}) {
                             for (const int workers : {1, 2}) {
                               if (ranks <= 4) {
                                 all.push_back({network::rings, ranks, workers});
                                 all.push_back({network::chaos, ranks, workers});
                               }
                               all.push_back({network::simulated, ranks, workers});
                             }
                           }
                           return all;
                         }()),
                         support::place_name);

struct leaf {
  std::uint64_t number;
  int left;
};

/// Trees of messages: the handler of each sends two to ranks that their numbers name.
class forest {
 public:
  explicit forest(world& w)
      : world_(w),
        handled_(w.workers()),
        channel_(
            w,
            [n = static_cast<std::uint64_t>(w.size())](const leaf& m) {
              return static_cast<rank_t>(m.number % n);
            },
            [this](worker_t k, std::span<const leaf> batch) {
              for (const auto& m : batch) {
                strays_ += owner(m) != world_.rank();
                ++handled_[k];
                if (at_each) at_each();
                if (m.left == 0) continue;
                for (const std::uint64_t child : {1, 2}) {
                  send(k, {mix64(2 * m.number + child), m.left - 1});
                }
              }
            }) {}

  void plant(std::uint64_t seed) {
    world_.parallel_for(
        trees,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          for (auto i = begin; i < end; ++i) {
            send(k, {mix64(seed + i * 64 + static_cast<std::uint64_t>(world_.rank())), depth});
          }
        },
        1);
  }
  // Handled here since the last call.
  std::uint64_t take_handled() {
    std::uint64_t sum = 0;
    for (auto& h : handled_) sum += std::exchange(h.value, 0);
    return sum;
  }
  [[nodiscard]] std::uint64_t expected() const {
    return trees * ((2u << depth) - 1) * static_cast<std::uint64_t>(world_.size());
  }
  [[nodiscard]] std::uint64_t strays() const { return strays_; }

  std::function<void()> at_each;

 private:
  static constexpr std::size_t trees = 12;
  static constexpr int depth = 5;

  [[nodiscard]] rank_t owner(const leaf& m) const {
    return static_cast<rank_t>(m.number % static_cast<std::uint64_t>(world_.size()));
  }
  void send(worker_t k, const leaf& m) { channel_.send(k, owner(m), m); }

  world& world_;
  task::per_worker<std::uint64_t> handled_;
  std::atomic<std::uint64_t> strays_ = 0;
  channel<leaf> channel_;
};

TEST_P(Routing, DeliversEveryMessageToItsOwnerBeforeTheEpochEnds) {
  under_every_scheme([](world& w) {
    forest f(w);
    for (std::uint64_t round = 1; round <= 3; ++round) {
      epoch e(w);
      f.plant(round);
      e.close();
      EXPECT_EQ(w.sum(f.take_handled()), f.expected());
    }
    EXPECT_EQ(f.strays(), 0u);
  });
}

TEST_P(Routing, EndsInsideALoopOfItsOwn) {
  under_every_scheme([](world& w) {
    forest f(w);
    epoch e(w);
    f.plant(5);
    w.run([&](worker_t k) {
      while (!e.try_close(k, worker_activity::idle)) {
      }
    });
    EXPECT_EQ(w.sum(f.take_handled()), f.expected());
    EXPECT_EQ(f.strays(), 0u);
  });
}

// Cancels at several moments; what follows each must find nothing of it.
template <class Next>
void cancel_in_the_middle(world& w, Next&& next) {
  std::uint64_t stopped = 0;
  for (std::uint64_t moment = 1; moment < 300; moment += 60) {
    try {
      forest f(w);
      std::atomic<std::uint64_t> done = 0;
      f.at_each = [&] {
        if (++done == moment && w.rank() == 0) w.cancel();
      };
      epoch e(w);
      f.plant(moment);
      e.close();
      w.barrier();
    } catch (const cancelled&) {
      ++stopped;
    }
    next(moment);
  }
  EXPECT_GT(stopped, 0u);
}

TEST_P(Routing, CancelInTheMiddleLeavesNothingToTheNextRun) {
  under_every_scheme([](world& w) {
    cancel_in_the_middle(w, [&](std::uint64_t seed) {
      forest f(w);
      epoch e(w);
      f.plant(seed);
      e.close();
      EXPECT_EQ(w.sum(f.take_handled()), f.expected());
    });
  });
}

TEST(Routing, OnManySimulatedSchedules) {
  for (std::uint64_t seed = 1; seed <= support::few_when_sanitized(120); ++seed) {
    const auto ranks = static_cast<rank_t>(2 + seed % 7);
    support::on_simulated_ranks(
        ranks, 1 + static_cast<int>(seed % 2), seed,
        [seed](world& w) {
          forest f(w);
          epoch e(w);
          f.plant(seed);
          e.close();
          EXPECT_EQ(w.sum(f.take_handled()), f.expected()) << "seed " << seed;
          EXPECT_EQ(f.strays(), 0u);
        },
        options_of(schemes[seed / 2 % 4], ranks));
  }
}

// Ranks 0 1 / 2 3: only the messages between opposite corners take two hops.
TEST(Routing, CountsWhatItForwardsAndSendsToNextHopsOnly) {
  static constexpr std::uint64_t messages = 100;
  support::on_ranks(4, 1,
                    [](world& w) {
                      std::set<rank_t> senders;
                      std::uint64_t received = 0;
                      struct note {
                        rank_t to, from;
                      };
                      channel<note> sent_messages(
                          w, [](const note& m) { return m.to; },
                          [&](worker_t, std::span<const note> batch) { received += batch.size(); });
                      epoch e(w);
                      for (std::uint64_t i = 0; i < messages; ++i) {
                        for (rank_t to = 0; to < 4; ++to) {
                          sent_messages.send(main_worker, to, {to, w.rank()});
                        }
                      }
                      e.close();
                      EXPECT_EQ(received, 4 * messages);
                      const auto& counted = w.counters();
                      EXPECT_EQ(counted.total(counter::messages_sent), 4 * messages);
                      EXPECT_EQ(counted.total(counter::messages_handled), 4 * messages);
                      EXPECT_EQ(counted.total(counter::messages_forwarded), messages);
                      EXPECT_GT(counted.total(counter::buffers_forwarded), 0u);
                      EXPECT_LE(counted.total(counter::buffers_forwarded),
                                counted.total(counter::buffers_received));
                    },
                    {.coalesce_bytes = 64, .routing = routing::grid});
}

// Waits for all ranks, so that no rank sees an empty channel early.
void expect_joined(world& w, bool expected) {
  const auto& counted = w.counters();
  const auto joined = w.sum(counted.total(counter::buffers_joined));
  const auto forwarded = w.sum(counted.total(counter::messages_forwarded));
  EXPECT_EQ(joined > 0, expected);
  EXPECT_EQ(forwarded > 0, expected);
}

// Trees from one rank to 16 or more, so that its blocks are many and leave part-filled.
void grow_scattered(world& w) {
  forest f(w);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    epoch e(w);
    f.plant(round);
    e.close();
    EXPECT_EQ(w.sum(f.take_handled()), f.expected());
  }
  EXPECT_EQ(f.strays(), 0u);
}

TEST(Routing, ThatChoosesJoinsPartFilledBlocksAmongManyRanks) {
  const auto body = [](world& w) {
    grow_scattered(w);
    expect_joined(w, true);
  };
  for (const auto& where : {support::place{network::rings, 17, 1},
                            {network::chaos, 17, 1},
                            {network::simulated, 40, 1},
                            {network::simulated, 33, 2}}) {
    const auto several =
        where.simulated() ? machine_layout() : machine_layout::dealt(where.ranks, 4);
    where.run(body, {.machines = several});
    where.run(body, {.coalesce_bytes = 64, .machines = several});
  }
}

TEST(Routing, ThatChoosesIsDirectAmongFewRanksAndOnOneMachine) {
  for (const auto& where : {support::place{network::simulated, 1, 1},
                            {network::simulated, 8, 1},
                            {network::simulated, 15, 1},
                            {network::rings, 17, 1}}) {
    where.run(
        [](world& w) {
          grow_scattered(w);
          expect_joined(w, false);
        },
        {});
  }
}

TEST(Routing, ThatChoosesDeliversOnManySimulatedSchedules) {
  for (std::uint64_t seed = 1; seed <= support::few_when_sanitized(60); ++seed) {
    support::on_simulated_ranks(static_cast<rank_t>(16 + seed % 33), 1 + static_cast<int>(seed % 2),
                                seed, grow_scattered,
                                {.coalesce_bytes = seed % 3 == 0 ? std::size_t{64} : 0});
  }
}

TEST(Routing, ThatChoosesLeavesNothingAfterACancel) {
  support::place{network::simulated, 24, 2}.run(
      [](world& w) { cancel_in_the_middle(w, [&](std::uint64_t) { grow_scattered(w); }); }, {});
}

TEST(Routing, StandingChannelsAndThoseWithoutOwnersGoDirectly) {
  support::on_ranks(4, 1,
                    [](world& w) {
                      std::atomic<int> received = 0, wrong = 0;
                      channel<rank_t> direct(
                          w, [&](worker_t, rank_t from, std::span<const rank_t> batch) {
                            for (const auto sender : batch) ++received, wrong += sender != from;
                          });
                      {
                        channel<rank_t> standing(
                            w, [](const rank_t& to) { return to; },
                            [&](worker_t, std::span<const rank_t> batch) {
                              for (const auto to : batch) ++received, wrong += to != w.rank();
                            },
                            {.kind = channel_kind::standing});
                        for (rank_t to = 0; to < 4; ++to) standing.send(main_worker, to, to);
                        epoch e(w);
                        for (rank_t to = 0; to < 4; ++to) direct.send(main_worker, to, w.rank());
                        e.close();
                      }
                      EXPECT_EQ(received, 8);
                      EXPECT_EQ(wrong, 0);
                      EXPECT_EQ(w.counters().total(counter::messages_forwarded), 0u);
                    },
                    {.routing = routing::grid});
}

TEST(Routing, OfTwoWorldsAtOnceDoesNotMix) {
  support::on_ranks(2, 1,
                    [](world& outer) {
                      support::on_simulated_ranks(
                          5, 1, 3 + static_cast<std::uint64_t>(outer.rank()),
                          [](world& w) {
                            forest f(w);
                            epoch e(w);
                            f.plant(1);
                            e.close();
                            EXPECT_EQ(w.sum(f.take_handled()), f.expected());
                          },
                          options_of(outer.rank() == 0 ? routing::grid : routing::hypercube, 5));
                      forest f(outer);
                      epoch e(outer);
                      f.plant(2);
                      e.close();
                      EXPECT_EQ(outer.sum(f.take_handled()), f.expected());
                    },
                    {.coalesce_bytes = 64, .routing = routing::hypercube});
}

}  // namespace
}  // namespace cairn::am::routing_test
