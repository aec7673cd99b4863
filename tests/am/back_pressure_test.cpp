// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/task/pool.hpp>

#include <support/on_ranks.hpp>

namespace cairn::am::back_pressure_test {
namespace {

// A network without room whenever has_room(number of the try) says so.
class gated_transport final : public net::transport {
 public:
  using predicate = std::function<bool(std::uint64_t)>;
  gated_transport(std::unique_ptr<net::transport> below, predicate has_room)
      : below_(std::move(below)), has_room_(std::move(has_room)) {}
  [[nodiscard]] rank_t self() const noexcept override { return below_->self(); }
  [[nodiscard]] rank_t size() const noexcept override { return below_->size(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return below_->max_packet(); }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return below_->best_packet(); }
  [[nodiscard]] std::span<std::byte> common_memory() const noexcept override {
    return below_->common_memory();
  }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override {
    if (!has_room_(tries_++) || !below_->send(to, packet)) return false;
    bytes_through_ += packet.size();
    return true;
  }
  std::size_t poll(const sink& deliver) override { return below_->poll(deliver); }

  [[nodiscard]] std::uint64_t tries() const noexcept { return tries_; }
  [[nodiscard]] std::uint64_t bytes_through() const noexcept { return bytes_through_; }

 private:
  std::unique_ptr<net::transport> below_;
  predicate has_room_;
  std::uint64_t tries_ = 0, bytes_through_ = 0;
};

// Rank 0, behind a gate, sends words 0, 1, ... to rank 1 in 1 KiB buffers.
class BackPressure : public ::testing::Test {
 protected:
  static constexpr std::uint64_t words = 100'000;
  static constexpr std::size_t bound = 20'000, packet = 1024 + 16;
  using messages = channel<std::uint64_t>;

  void run(const gated_transport::predicate& has_room,
           const std::function<void(world&, messages&)>& rank_0) {
    support::on_ranks(
        2, 1,
        [&](world& w) {
          std::uint64_t received = 0, sum = 0;
          messages r(w, [&](worker_t, std::span<const std::uint64_t> batch) {
            if (w.rank() == 0) {  // the start signal
              rank_0(w, r);
              return;
            }
            received += batch.size();
            sum = std::accumulate(batch.begin(), batch.end(), sum);
          });
          epoch e(w);
          if (w.rank() == 0) in_handler_ ? r.send(main_worker, 0, 0) : rank_0(w, r);
          e.close();
          EXPECT_EQ(received, w.rank() == 1 ? words : 0);
          EXPECT_EQ(sum, w.rank() == 1 ? words * (words - 1) / 2 : 0);
        },
        {.coalesce_bytes = 1024, .pending_bytes = bound},
        [&](std::unique_ptr<net::transport> net) -> std::unique_ptr<net::transport> {
          if (net->self() != 0) return net;
          auto gated = std::make_unique<gated_transport>(std::move(net), has_room);
          gate_ = gated.get();
          return gated;
        });
  }

  // Sends all words; the most bytes that ever waited after a send.
  std::uint64_t send_all(world& w, messages& r) {
    std::uint64_t max = 0;
    auto send = r.from(main_worker);
    for (std::uint64_t i = 0; i < words; ++i) {
      send(1, i);
      if (!in_handler_ && i % 128 == 0) static_cast<void>(w.progress());
      const auto posted = w.counters().total(obs::counter::bytes_sent);
      max = std::max(max, posted - gate_->bytes_through());
    }
    return max;
  }

  bool in_handler_ = false;
  gated_transport* gate_ = nullptr;
};

TEST_F(BackPressure, MakesTheBodyWaitForRoom) {
  run([](std::uint64_t tries) { return tries / 100 % 2 == 1; },
      [this](world& w, messages& r) {
        const auto max_waiting = send_all(w, r);
        EXPECT_GT(max_waiting, bound / 2);
        EXPECT_LE(max_waiting, bound + packet);
      });
}

// A rank that waits for room runs handlers, instead of taking in more and more.
// Here there is room only once it has handled what came.
TEST(BackPressureOfTwo, HandlesWhatArrivesWhileItWaitsForRoom) {
  constexpr std::uint64_t words = 20'000;
  std::atomic<std::uint64_t> handled = 0;
  support::on_ranks(
      2, 1,
      [&](world& w) {
        std::uint64_t received = 0;
        channel<std::uint64_t> messages(w, [&](worker_t, auto batch) {
          received += batch.size();
          if (w.rank() == 0) handled = received;
        });
        epoch e(w);
        w.parallel_for(words, [&](worker_t k, std::size_t begin, std::size_t end) {
          auto send = messages.from(k);
          for (auto i = begin; i < end; ++i) send(1 - w.rank(), i);
        });
        e.close();
        EXPECT_EQ(received, words);
      },
      {.coalesce_bytes = 1024, .pending_bytes = 4096},
      [&](std::unique_ptr<net::transport> net) -> std::unique_ptr<net::transport> {
        if (net->self() != 0) return net;
        return std::make_unique<gated_transport>(
            std::move(net), [&](std::uint64_t) { return handled >= 4096 / sizeof(std::uint64_t); });
      });
}

// Some ranks fill a block for each rank.
void expect_within_bound(world& w, std::size_t bound, std::uint64_t words) {
  constexpr rank_t senders = 8;
  std::uint64_t received = 0;
  channel<std::uint64_t> messages(w, [&](worker_t, auto batch) { received += batch.size(); });
  std::size_t most = 0;
  epoch e(w);
  w.parallel_for(
      static_cast<std::size_t>(w.rank() < senders ? w.size() : 0),
      [&](worker_t k, std::size_t begin, std::size_t end) {
        auto send = messages.from(k);
        for (auto to = static_cast<rank_t>(begin); to < static_cast<rank_t>(end); ++to) {
          for (std::uint64_t i = 0; i < words; ++i) send(to, i);
        }
        most = std::max(most, w.messages().held_bytes());
      },
      64);
  e.close();
  EXPECT_EQ(received, words * senders);
  if (w.rank() < senders) {
    EXPECT_GT(most, bound / 8);
  }
  EXPECT_LE(most, bound);
}

TEST(BlocksForManyRanks, TakeHalfOfTheBoundBetweenSimulatedRanks) {
  constexpr std::size_t bound = std::size_t{2} << 20;
  support::on_simulated_ranks(1024, 1, 1, [](world& w) { expect_within_bound(w, bound, 3); },
                              {.pending_bytes = bound});
}

TEST(BlocksForManyRanks, TakeHalfOfTheBoundBetweenLocalRanks) {
  constexpr std::size_t bound = std::size_t{1} << 18;
  support::on_ranks(64, 1, [](world& w) { expect_within_bound(w, bound, 20); },
                    {.pending_bytes = bound});
}

// There is no room while the handler runs: if it waited for some it would try again and again,
// and by then the gate opens so that the test ends.
TEST_F(BackPressure, NeverMakesAHandlerWait) {
  in_handler_ = true;
  bool handler_ended = false;
  run([&](std::uint64_t tries) { return handler_ended || tries > 10'000; },
      [&](world& w, messages& r) {
        const auto max_waiting = send_all(w, r);
        EXPECT_GT(max_waiting, words * 8 - 2 * packet);
        EXPECT_LT(gate_->tries(), 100u);
        handler_ended = true;
      });
}

// The one worker of a rank; counts how often it lets others run.
class counting_pool final : public task::pool {
 public:
  counting_pool() : pool(1) {}
  [[nodiscard]] worker_t current_worker() const noexcept override { return main_worker; }
  void run(const job& f) override { f(main_worker); }
  void relax(unsigned) noexcept override {}
  void yield_core() noexcept override { ++given_way; }

  std::uint64_t given_way = 0;

 private:
  void set_polling(bool) override {}
  void begin_servers(int) override {}
  void end_servers() noexcept override {}
};

// On shared cores the receiver, which makes room, may wait for the sender's.
TEST(BackPressureOfOne, LetsOthersRunAfterEachChunkWhileThereIsNoRoom) {
  struct ended {};
  bool room = true;
  auto rings =
      std::make_unique<net::ring_transport>(std::make_shared<const net::ring_fabric>(2), 0);
  gated_transport net(std::move(rings), [&](std::uint64_t) { return room; });
  counting_pool pool;
  hw::steady_clock clock;
  world w(net, pool, clock, {.coalesce_bytes = 1024});
  try {
    channel<std::uint64_t> messages(w, [](worker_t, std::span<const std::uint64_t>) {});
    epoch e(w);
    const auto given_way_in = [&](std::size_t chunks) {
      const auto before = pool.given_way;
      constexpr std::size_t words = 128;  // a buffer
      w.parallel_for(
          chunks * words,
          [&](worker_t k, std::size_t begin, std::size_t end) {
            auto send = messages.from(k);
            for (auto i = begin; i < end; ++i) send(1, i);
          },
          words);
      return pool.given_way - before;
    };
    EXPECT_EQ(given_way_in(20), 0u);
    room = false;
    EXPECT_GE(given_way_in(20), 18u);
    room = true;
    static_cast<void>(w.progress());
    EXPECT_EQ(given_way_in(20), 0u);
    throw ended{};  // the epoch has no other rank to end with
  } catch (const ended&) {
  }
}

}  // namespace
}  // namespace cairn::am::back_pressure_test
