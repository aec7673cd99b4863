// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/combine_table.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/per_worker.hpp>

#include <support/places.hpp>

namespace cairn::am::reducing_channel_test {
namespace {

struct update {
  std::uint64_t key = 0, amount = 0;
};

// Sums by key; the owner of a key is its remainder by the number of ranks. Counts what its channel
// reports.
struct sums {
  struct worker_state {
    combine_table<update> table;
    std::uint64_t offered = 0, counted = 0;
    bool refuses = false;
  };
  rank_t ranks;
  task::per_worker<worker_state> workers;

  sums(world& w, const table_size& size) : ranks(w.size()), workers(w.workers()) {
    for (worker_t k{}; k < w.workers(); ++k) workers[k].table = combine_table<update>(size);
  }

  [[nodiscard]] rank_t owner(const update& m) const {
    return static_cast<rank_t>(m.key % static_cast<std::uint64_t>(ranks));
  }
  [[nodiscard]] static std::uint64_t key(const update& m) { return m.key; }
  static void combine(update& kept, const update& m) { kept.amount += m.amount; }

  template <class Out>
  offered offer(worker_t k, const update& m, Out&& out) {
    ++workers[k].offered;
    return workers[k].table.offer_uncounted(*this, m, out);
  }
  void count(worker_t k, std::uint64_t n) {
    workers[k].counted += n;
    workers[k].table.count(n);
  }
  [[nodiscard]] bool offers(worker_t k, std::uint64_t sent) {
    return !workers[k].refuses && workers[k].table.offers(sent);
  }
  template <class Out>
  void drain(worker_t k, Out&& out) {
    workers[k].table.drain(out);
  }
  void forget(worker_t k) noexcept {
    workers[k].table.drain([](const update&) {});
  }
};

class ReducingChannel : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, ReducingChannel, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Half of the updates go by a loop's sender, half by senders of one message.
TEST_P(ReducingChannel, DeliversAllAmountsInFewerMessages) {
  constexpr std::uint64_t keys = 100, updates = 5000;
  const auto body_with = [](std::size_t entries) {
    return [=](world& w) {
      sums reducer(w, {.entries = entries, .keys = keys});
      std::atomic<std::uint64_t> handled = 0, amount = 0;
      channel<update, sums> to_owners(w, reducer, [&](worker_t, std::span<const update> batch) {
        for (const auto& m : batch) {
          EXPECT_EQ(reducer.owner(m), w.rank());
          amount += m.amount;
        }
        handled += batch.size();
      });
      {
        epoch e(w);
        w.parallel_for(
            updates,
            [&](worker_t k, std::size_t begin, std::size_t end) {
              random64 random(begin);
              to_owners.with_sender(k, [&](auto& send) {
                for (auto i = begin; i < end; i += 2) send.offer({random.below(keys), 1});
              });
              for (auto i = begin + 1; i < end; i += 2) {
                to_owners.from(k).offer({random.below(keys), 1});
              }
            },
            500);
        e.close();
      }
      const auto all = updates * static_cast<std::uint64_t>(w.size());
      EXPECT_EQ(w.sum(amount.load()), all);
      EXPECT_LE(w.sum(handled.load()), all);
      if (entries == keys) {
        EXPECT_LT(w.sum(handled.load()), all / 2);
      }
      for (worker_t k{}; k < w.workers(); ++k) {
        EXPECT_EQ(reducer.workers[k].counted, reducer.workers[k].offered);
      }
    };
  };
  for (const std::size_t entries : {0, 16, 100}) {
    for (const auto scheme : {routing::direct, routing::grid}) {
      GetParam().run(body_with(entries), {.routing = scheme});
    }
  }
}

// The counts that the table's choices need: none is lost with the last messages of a sender, which
// all merge.
TEST(ReducingChannelCounts, WhatItsSendersOffered) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    sums reducer(w, {.entries = 64, .keys = 64});
    channel<update, sums> to_owners(w, reducer, [](worker_t, std::span<const update>) {});
    auto& mine = reducer.workers[main_worker];
    epoch e(w);
    to_owners.with_sender(main_worker, [&](auto& send) {
      EXPECT_EQ(send.offer({7, 1}), offered::kept);
      EXPECT_EQ(mine.counted, 1u) << "a table decides when a message enters";
      for (int i = 1; i < 10; ++i) EXPECT_EQ(send.offer({7, 1}), offered::merged);
    });
    EXPECT_EQ(mine.counted, 10u);
    {
      auto send = to_owners.from(main_worker);
      for (int i = 0; i < 5; ++i) send.offer({7, 1});
    }
    EXPECT_EQ(mine.counted, 15u);
    mine.refuses = true;
    to_owners.with_sender(main_worker, [](auto& send) {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(send.offer({7, 1}), offered::passed);
    });
    EXPECT_EQ(mine.counted, 15u);
    EXPECT_EQ(mine.offered, 15u);
    e.close();
  });
}

// The scans for old blocks after which a busy worker's table is drained.
TEST(ReducingChannelAge, IsInProportionToWhatTheTableKeeps) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    sums reducer(w, {.entries = 1 << 14, .keys = 1 << 14});
    std::uint64_t handled = 0;
    channel<update, sums> to_owners(
        w, reducer, [&](worker_t, std::span<const update> batch) { handled += batch.size(); });
    epoch e(w);
    for (const auto& [kept, scans] : {std::pair{1, 2}, {1000, 2}, {3 * 1024, 5}, {10, 2}}) {
      to_owners.with_sender(main_worker, [keys = kept](auto& send) {
        for (int key = 0; key < keys; ++key) send.offer({static_cast<std::uint64_t>(key), 1});
      });
      int needed = 0;
      do {
        ++needed;
        to_owners.flush(main_worker, flush_scope::only_old);
      } while (reducer.workers[main_worker].table.size() != 0 && needed < 100);
      EXPECT_EQ(needed, scans) << kept;
    }
    e.close();
    EXPECT_EQ(w.sum(handled), 2u * (1 + 1000 + 3 * 1024 + 10));
  });
}

// A table that closes has emptied itself: nothing of it waits to be drained.
TEST(ReducingChannelAge, EndsWhenTheTableCloses) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    sums reducer(w, {.entries = 1 << 14, .keys = std::uint64_t{1} << 40});
    channel<update, sums> to_owners(w, reducer, [](worker_t, std::span<const update>) {});
    epoch e(w);
    auto became = offered::kept;
    for (std::uint64_t key = 0; became != offered::passed && key < 1'000'000; ++key) {
      became = to_owners.from(main_worker).offer({key, 1});
    }
    EXPECT_EQ(became, offered::passed);
    for (int scan = 0; scan < 2; ++scan) to_owners.flush(main_worker, flush_scope::only_old);
    for (int scan = 0; scan < 4; ++scan) {
      EXPECT_FALSE(to_owners.flush(main_worker, flush_scope::only_old)) << scan;
    }
    e.close();
  });
}

}  // namespace
}  // namespace cairn::am::reducing_channel_test
