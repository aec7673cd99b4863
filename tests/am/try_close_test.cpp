// SPDX-License-Identifier: Apache-2.0
// Epochs that end inside an algorithm's own loop, and what holds them open.
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

#include <support/function_source.hpp>
#include <support/places.hpp>

namespace cairn::am::try_close_test {
namespace {

class TryClose : public ::testing::TestWithParam<support::place> {};
class Hold : public TryClose {};

INSTANTIATE_TEST_SUITE_P(Everywhere, TryClose, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, TryClose, ::testing::ValuesIn(support::served_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Everywhere, Hold, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

/// Trees whose nodes wait in a queue of the worker that took them in, as in Distributed Control.
/// With `holds` each queued node holds the epoch.
struct queued_forest {
  struct node {
    std::uint64_t number;
    int left;
  };
  static constexpr int depth = 6, looks_per_node = 60;
  static constexpr std::uint64_t nodes_of_a_tree = (1u << (depth + 1)) - 1;

  queued_forest(world& the_world, bool holds)
      : w(the_world),
        holding(holds),
        queues(w.workers()),
        handled(w.workers()),
        sent_messages(w, [this](worker_t k, std::span<const node> batch) {
          if (holding) w.messages().hold(k, batch.size());
          queues[k].insert(queues[k].end(), batch.begin(), batch.end());
        }) {}

  // Takes one node out of the worker's queue.
  void work(worker_t k) {
    const auto n = queues[k].back();
    queues[k].pop_back();
    ++handled[k];
    auto send = sent_messages.from(k);
    for (std::uint64_t child = 1; n.left > 0 && child <= 2; ++child) {
      const auto number = mix64(2 * n.number + child);
      send(static_cast<rank_t>(number % static_cast<std::uint64_t>(w.size())),
           {number, n.left - 1});
    }
    if (holding) w.messages().release(k, 1);
  }

  // Grows a tree per rank; returns the nodes that were handled here when the epoch had ended.
  std::uint64_t grow(std::uint64_t seed) {
    epoch e(w);
    for (auto& h : handled) h.value = 0;
    sent_messages.send(main_worker, w.rank(), {seed + static_cast<std::uint64_t>(w.rank()), depth});
    w.run([&](worker_t k) {
      for (int looks = 0;
           !e.try_close(k, queues[k].empty() ? worker_activity::idle : worker_activity::busy);) {
        if (!queues[k].empty() && ++looks % looks_per_node == 0) work(k);
      }
    });
    std::uint64_t sum = 0;
    for (auto& h : handled) sum += h.value;
    for (auto& q : queues) q.value.clear();
    return sum;
  }

  world& w;
  bool holding;
  task::per_worker<std::vector<node>> queues;
  task::per_worker<std::uint64_t> handled;
  channel<node> sent_messages;
};

TEST_P(TryClose, EndsOnAllWorkersOnceAllQueuesAreEmptyEverywhere) {
  GetParam().run(
      [](world& w) {
        queued_forest f(w, true);
        for (std::uint64_t round = 1; round <= 4; ++round) {
          const auto all = w.sum(f.grow(mix64(round)));
          EXPECT_EQ(all, queued_forest::nodes_of_a_tree * static_cast<std::uint64_t>(w.size()));
        }
      },
      {.coalesce_bytes = 64});
}

// The broken twin does not hold the epoch for what waits in its queues.
TEST(TryCloseTwin, WithoutHoldsEndsTooEarly) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    support::on_simulated_ranks(4, 1, seed, [&](world& w) {
      queued_forest f(w, false);
      const bool all = w.sum(f.grow(seed)) == 4 * queued_forest::nodes_of_a_tree;
      early += !all && w.rank() == 0 ? 1 : 0;
    });
  }
  EXPECT_GT(early, 0);
}

TEST_P(TryClose, MayBeFollowedByCloseAndByOtherEpochs) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> received = 0;
    channel<int> sent_messages(w, [&](worker_t, auto batch) { received += batch.size(); });
    for (std::uint64_t round = 1; round <= 10; ++round) {
      epoch e(w);
      for (rank_t to = 0; to < w.size(); ++to) sent_messages.send(main_worker, to, 1);
      w.run([&](worker_t k) {
        for (int i = 0; i < 5; ++i) static_cast<void>(e.try_close(k, worker_activity::idle));
      });
      e.close();
      EXPECT_EQ(received, round * static_cast<std::uint64_t>(w.size()));
    }
  });
}

// Work that waits for a moment to come, asked by a progress source as parked activities are.
TEST_P(Hold, KeepsTheEpochOpenUntilItIsReleased) {
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> received = 0;
    channel<int> sent_messages(w, [&](worker_t, auto batch) { received += batch.size(); });
    std::optional<epoch> e;
    std::atomic<bool> parked = false;
    std::atomic<int> looks = 0;
    const support::function_source source(w.pool(), [&](worker_t k) {
      if (!parked || ++looks < 30 || !parked.exchange(false)) return false;
      sent_messages.send(k, (w.rank() + 1) % w.size(), 1);
      e->release(k);
      return true;
    });
    for (std::uint64_t round = 1; round <= 5; ++round) {
      e.emplace(w);
      looks = 0;
      e->hold(main_worker);
      parked = true;
      e->close();
      EXPECT_FALSE(parked);
      EXPECT_EQ(received, round);
      e.reset();
      w.barrier();
    }
  });
}

}  // namespace
}  // namespace cairn::am::try_close_test
