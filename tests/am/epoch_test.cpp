// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>

#include <support/places.hpp>

namespace cairn::am::epoch_test {
namespace {

class Epoch : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Epoch, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

/// Trees of messages that grow over the ranks: the handler of one with `left` to go sends two
/// more, to ranks that its number chooses.
struct forest {
  struct node {
    std::uint64_t number;
    int left;
  };
  static constexpr int depth = 6;
  static constexpr std::uint64_t nodes_of_a_tree = (1u << (depth + 1)) - 1;

  explicit forest(world& the_world)
      : w(the_world),
        handled(w.workers()),
        sent_messages(w, [this](worker_t k, std::span<const node> batch) {
          auto send = sent_messages.from(k);
          for (const auto& n : batch) {
            ++handled[k];
            for (std::uint64_t child = 1; n.left > 0 && child <= 2; ++child) {
              const auto number = mix64(2 * n.number + child);
              send(static_cast<rank_t>(number % static_cast<std::uint64_t>(w.size())),
                   {number, n.left - 1});
            }
          }
        }) {}

  void plant(std::uint64_t number) { sent_messages.send(main_worker, w.rank(), {number, depth}); }

  /// Plain reads suffice: a thread that has closed the epoch sees what its handlers wrote.
  std::uint64_t handled_here() {
    std::uint64_t sum = 0;
    for (auto& h : handled) sum += h.value;
    return sum;
  }

  world& w;
  task::per_worker<std::uint64_t> handled;
  channel<node> sent_messages;
};

TEST_P(Epoch, CloseWaitsForHandlersThatSend) {
  GetParam().run(
      [](world& w) {
        forest f(w);
        for (std::uint64_t round = 1; round <= 4; ++round) {
          epoch e(w);
          f.plant(mix64(round) + static_cast<std::uint64_t>(w.rank()));
          e.close();
          const auto all = round * forest::nodes_of_a_tree * static_cast<std::uint64_t>(w.size());
          EXPECT_EQ(w.sum(f.handled_here()), all);
        }
      },
      {.coalesce_bytes = 64});
}

// The broken twin: it ends the epoch once every rank has had nothing to do at some moment. A
// handler that still runs then finds its epoch closed.
TEST(EpochTwin, ABarrierOfIdleRanksEndsTooEarly) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto run = [&](world& w) {
      forest f(w);
      w.messages().open_epoch();
      f.plant(static_cast<std::uint64_t>(w.rank()));
      while (w.pool().poll_sources(main_worker)) {
      }
      w.barrier();
      w.messages().close_epoch();
      const bool all = w.sum(f.handled_here()) == 4 * forest::nodes_of_a_tree;
      early += !all && w.rank() == 0 ? 1 : 0;
    };
    try {
      support::on_simulated_ranks(4, 1, seed, run);
    } catch (const peer_failure&) {
      ++early;
    }
  }
  EXPECT_GT(early, 0);
}

// Handlers write plain memory of their own; afterwards anybody reads it.
TEST_P(Epoch, CloseOrdersTheHandlersWritesBeforeWhatFollows) {
  constexpr std::size_t slots = 500;
  GetParam().run([](world& w) {
    std::vector<std::uint64_t> written(slots * static_cast<std::size_t>(w.size()));
    channel<std::uint64_t> sent_messages(w, [&](worker_t, std::span<const std::uint64_t> batch) {
      for (const auto slot : batch) written[slot] += slot + 1;
    });
    for (std::uint64_t round = 1; round <= 3; ++round) {
      epoch e(w);
      w.parallel_for(slots, [&](worker_t k, std::size_t begin, std::size_t end) {
        auto send = sent_messages.from(k);
        for (auto i = begin; i < end; ++i) {
          for (rank_t to = 0; to < w.size(); ++to) {
            send(to,
                 i * static_cast<std::uint64_t>(w.size()) + static_cast<std::uint64_t>(w.rank()));
          }
        }
      });
      e.close();
      w.parallel_for(written.size(), [&](worker_t, std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) EXPECT_EQ(written[i], round * (i + 1));
      });
    }
  });
}

// In each round another rank is ahead of the others, which are busy before they open theirs.
TEST_P(Epoch, KeepsMessagesOfAFastRankForTheirEpoch) {
  GetParam().run([](world& w) {
    std::uint64_t current = 0;
    std::atomic<std::uint64_t> received = 0, strays = 0;
    channel<std::uint64_t> sent_messages(w, [&](worker_t, std::span<const std::uint64_t> batch) {
      for (const auto round : batch) strays += round == current ? 0u : 1u;
      received += batch.size();
    });
    for (std::uint64_t round = 1; round <= 30; ++round) {
      const bool fast =
          round % static_cast<std::uint64_t>(w.size()) == static_cast<std::uint64_t>(w.rank());
      if (!fast)
        w.parallel_for(
            20, [](worker_t, std::size_t, std::size_t) {}, 1);
      current = round;
      epoch e(w);
      if (fast) {
        for (rank_t to = 0; to < w.size(); ++to) sent_messages.send(main_worker, to, round);
      }
      e.close();
      EXPECT_EQ(received, round);
    }
    EXPECT_EQ(strays, 0u);
  });
}

TEST(Epoch, IsOneAtATime) {
  world w;
  epoch first(w);
  EXPECT_THROW(static_cast<void>(epoch(w)), contract_violation);
  first.close();
  epoch(w).close();
}

// What a rank hears when it blocks: who failed, and why.
struct heard {
  rank_t from = -1;
  std::string text;
};
template <class F>
heard heard_from(F&& blocks) {
  try {
    blocks();
  } catch (const peer_failure& e) {
    return {e.rank(), e.what()};
  }
  return {};
}

TEST_P(Epoch, AFailingHandlerFailsEveryBlockingCallOfEveryRank) {
  GetParam().run([](world& w) {
    const rank_t culprit = w.size() - 1;
    channel<int> sent_messages(
        w, [](worker_t, auto) { throw std::runtime_error("the handler broke"); });
    epoch e(w);
    if (w.rank() == 0) sent_messages.send(main_worker, culprit, 1);
    const auto closing = heard_from([&] { e.close(); });
    const auto gathering = heard_from([&] { w.barrier(); });
    const auto looping = heard_from([&] { w.parallel_for(1, [](worker_t, auto, auto) {}); });
    const auto waiting = heard_from([&] { w.wait_until([] { return false; }); });
    for (const auto& h : {closing, gathering, looping, waiting}) {
      EXPECT_EQ(h.from, culprit);
      EXPECT_NE(h.text.find("the handler broke"), std::string::npos) << h.text;
    }
  });
}

TEST_P(Epoch, AHandlerMayFailWithAnything) {
  for (const bool wordless : {true, false}) {
    GetParam().run([&](world& w) {
      channel<int> sent_messages(w, [&](worker_t, auto) {
        if (wordless) throw std::runtime_error("");
        throw 42;
      });
      epoch e(w);
      if (w.rank() == 0) sent_messages.send(main_worker, 0, 1);
      EXPECT_EQ(heard_from([&] { e.close(); }).from, 0);
    });
  }
}

TEST_P(Epoch, AFailingBodyEndsTheOthersEpoch) {
  const rank_t culprit = GetParam().ranks - 1;
  std::atomic<int> notified = 0;
  const auto run = [&] {
    GetParam().run([&](world& w) {
      forest f(w);
      epoch e(w);
      f.plant(static_cast<std::uint64_t>(w.rank()));
      if (w.rank() == culprit) throw std::runtime_error("the body broke");
      const auto closing = heard_from([&] { e.close(); });
      EXPECT_EQ(closing.from, culprit);
      EXPECT_NE(closing.text.find("the body broke"), std::string::npos) << closing.text;
      ++notified;
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(notified, GetParam().ranks - 1);
}

}  // namespace
}  // namespace cairn::am::epoch_test
