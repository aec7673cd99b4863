// SPDX-License-Identifier: Apache-2.0
// Epochs that are abandoned: by cancel(), by an exception, by a transport that fails.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::am::cancel_test {
namespace {

class AbandonedEpoch : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, AbandonedEpoch, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, AbandonedEpoch, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

/// Chains of messages: the handler of one with `left` to go sends the next to a rank that its
/// number chooses. Returns what was handled, on all ranks.
std::uint64_t run_chains(
    world& w, std::uint64_t seed, int length, const std::function<void()>& at_each = [] {}) {
  struct link {
    std::uint64_t number;
    int left;
  };
  task::per_worker<std::uint64_t> handled(w.workers());
  std::unique_ptr<channel<link>> sent_messages;
  sent_messages = std::make_unique<channel<link>>(w, [&](worker_t k, std::span<const link> batch) {
    auto send = sent_messages->from(k);
    for (const auto& m : batch) {
      at_each();
      ++handled[k];
      const auto next = mix64(m.number);
      const auto to = static_cast<rank_t>(next % static_cast<std::uint64_t>(w.size()));
      if (m.left > 0) send(to, {next, m.left - 1});
    }
  });
  std::uint64_t here = 0;
  for (std::uint64_t round = 0; round < 3; ++round) {
    epoch e(w);
    w.parallel_for(
        20,
        [&](worker_t k, std::size_t begin, std::size_t) {
          at_each();
          sent_messages->send(k, static_cast<rank_t>(begin) % w.size(),
                              {seed + round + begin, length});
        },
        1);
    e.close();
  }
  for (auto& h : handled) here += h.value;
  return w.sum(here);
}

std::uint64_t expected_of(world& w, int length) {
  return 3 * 20 * static_cast<std::uint64_t>(w.size()) * static_cast<std::uint64_t>(length + 1);
}

// The place's seed and the round choose the moment, over all that a rank does in a run.
void cancel_at_random_moments(world& w, std::uint64_t seed, int rounds) {
  int stopped = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto draw = mix64(seed + static_cast<std::uint64_t>(round));
    const auto who = static_cast<rank_t>(draw % static_cast<std::uint64_t>(w.size()));
    const auto moment = draw / 64 % 1000;
    std::atomic<std::uint64_t> done = 0;
    bool ended = false;
    try {
      const auto all = run_chains(w, draw, 15, [&] {
        if (++done == moment && w.rank() == who) w.cancel();
      });
      ended = true;
      EXPECT_EQ(all, expected_of(w, 15));
      w.barrier();  // a request that came at the very end takes effect here
    } catch (const cancelled&) {
      ++stopped;
    }
    const auto flags = w.all_gather(ended);
    for (const bool other : flags) EXPECT_EQ(other, ended) << "a call ends everywhere or nowhere";
    EXPECT_EQ(run_chains(w, draw, 4), expected_of(w, 4));
  }
  EXPECT_GT(stopped, rounds / 10);
}

TEST_P(AbandonedEpoch, CancelAtAnyMomentStopsAllRanksAndTheNextRunIsRight) {
  GetParam().run([](world& w) { cancel_at_random_moments(w, 7, 10); }, {.coalesce_bytes = 64});
}

TEST(AbandonedEpochs, CancelOnManySimulatedSchedules) {
  for (std::uint64_t seed = 1; seed <= support::few_when_sanitized(100); ++seed) {
    support::on_simulated_ranks(2 + static_cast<rank_t>(seed % 4), 1 + static_cast<int>(seed % 2),
                                seed, [seed](world& w) { cancel_at_random_moments(w, seed, 5); },
                                {.coalesce_bytes = 64});
  }
}

// What was left of the epoch reached a channel of another type.
TEST(AbandonedEpoch, OfOneRankIsForgotten) {
  for (const int workers : {1, 2}) {
    world w(workers);
    {
      channel<std::uint64_t> sent_messages(w, [](worker_t, auto) {});
      const auto run = [&] {
        epoch e(w);
        w.parallel_for(
            100,
            [&](worker_t k, std::size_t begin, std::size_t) {
              for (std::uint64_t i = 0; i < 2000; ++i) sent_messages.send(k, 0, i);
              if (begin == 50) throw std::runtime_error("the loop broke");
            },
            1);
        e.close();
      };
      EXPECT_THROW(run(), std::runtime_error);
    }
    std::atomic<std::uint64_t> received = 0, wrong = 0;
    struct other {
      char bytes[24];
    };
    channel<other> sent_messages(w, [&](worker_t, std::span<const other> batch) {
      received += batch.size();
      for (const auto& m : batch) wrong += m.bytes[0] == 'x' ? 0u : 1u;
    });
    epoch e(w);
    sent_messages.send(main_worker, 0, {"x"});
    e.close();
    EXPECT_EQ(received, 1u);
    EXPECT_EQ(wrong, 0u);
  }
}

TEST_P(AbandonedEpoch, OfSeveralRanksFailsWhateverFollows) {
  if (GetParam().ranks == 1) return;
  std::atomic<int> notified = 0;
  GetParam().run([&](world& w) {
    channel<int> sent_messages(w, [](worker_t, auto) {});
    const auto heard = [&](const std::function<void()>& f) {
      try {
        f();
      } catch (const peer_failure& e) {
        EXPECT_NE(std::string(e.what()).find("destroyed without close()"), std::string::npos)
            << e.what();
        ++notified;
      }
    };
    const auto leave = [&] {
      epoch e(w);
      sent_messages.send(main_worker, 0, 1);
      throw std::runtime_error("caught by the caller");
    };
    if (w.rank() == 0) {
      EXPECT_THROW(leave(), std::runtime_error);
      heard([&] { epoch(w).close(); });
    } else {
      heard([&] { epoch(w).close(); });
    }
  });
  EXPECT_EQ(notified, GetParam().ranks);
}

// The next close() never returned.
TEST_P(AbandonedEpoch, SendingWhileNoneIsOpenIsRefused) {
  GetParam().run([](world& w) {
    std::atomic<int> received = 0;
    channel<int> sent_messages(
        w, [&](worker_t, auto batch) { received += static_cast<int>(batch.size()); });
    EXPECT_THROW(sent_messages.send(main_worker, 0, 1), contract_violation);
    epoch e(w);
    sent_messages.send(main_worker, w.rank(), 1);
    e.close();
    EXPECT_THROW(static_cast<void>(sent_messages.from(main_worker)), contract_violation);
    epoch(w).close();
    EXPECT_EQ(received, 1);
  });
}

/// Fails in its n-th poll or send, and in all that follow.
class failing_transport final : public net::transport {
 public:
  failing_transport(std::unique_ptr<net::transport> below, std::uint64_t good_polls, bool sends)
      : below_(std::move(below)), left_(good_polls), sends_(sends) {}
  [[nodiscard]] rank_t self() const noexcept override { return below_->self(); }
  [[nodiscard]] rank_t size() const noexcept override { return below_->size(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return below_->max_packet(); }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return below_->best_packet(); }
  [[nodiscard]] std::span<std::byte> common_memory() const noexcept override {
    return below_->common_memory();
  }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override {
    if (left_ == 0 && !sends_) throw system_failure("the cable broke");
    return below_->send(to, packet);
  }
  std::size_t poll(const sink& deliver) override {
    if (left_ == 0) throw system_failure("the cable broke");
    --left_;
    return below_->poll(deliver);
  }

 private:
  std::unique_ptr<net::transport> below_;
  std::uint64_t left_;
  bool sends_;
};

// The error of another worker's poll, of a poll while an exception is on
// its way, and of the sends that tell of a failure.
TEST(AbandonedEpoch, ATransportThatFailsEndsEveryRankWithItsSentence) {
  for (const int workers : {1, 2}) {
    for (const bool still_sends : {true, false}) {
      for (const std::uint64_t good_polls : {0, 1, 5, 50, 500}) {
        std::atomic<int> notified = 0;
        const auto run = [&] {
          support::on_ranks(
              2, workers,
              [&](world& w) {
                // A rank that can send no more cannot tell the other, which here does not wait.
                if (!still_sends && w.rank() == 1) return;
                try {
                  for (;;) run_chains(w, 1, 10);
                } catch (const system_failure& e) {
                  EXPECT_NE(std::string(e.what()).find("the cable broke"), std::string::npos)
                      << e.what();
                  ++notified;
                }
              },
              {.coalesce_bytes = 64},
              [&](std::unique_ptr<net::transport> net) -> std::unique_ptr<net::transport> {
                if (net->self() != 0) return net;
                return std::make_unique<failing_transport>(std::move(net), good_polls, still_sends);
              });
        };
        EXPECT_NO_THROW(run());
        EXPECT_EQ(notified, still_sends ? 2 : 1);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::am::cancel_test
