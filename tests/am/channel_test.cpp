// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>

#include <support/places.hpp>

namespace cairn::am {
namespace {

class Channel : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Channel, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Message i of rank r goes to rank (r + i) % size, the own one included.
TEST_P(Channel, DeliversEachMessageOnceToItsRank) {
  constexpr std::uint64_t each = 300;
  struct message {
    rank_t from;
    std::uint32_t number;
  };
  GetParam().run([](world& w) {
    const auto ranks = static_cast<std::uint64_t>(w.size());
    std::vector<std::atomic<int>> came(ranks * each);
    channel<message> road(w, [&](worker_t, std::span<const message> batch) {
      for (const auto& m : batch) came[static_cast<std::uint64_t>(m.from) * each + m.number]++;
    });
    epoch e(w);
    w.parallel_for(
        each,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto send = road.from(k);
          for (auto i = begin; i < end; ++i) {
            const auto to = (static_cast<std::uint64_t>(w.rank()) + i) % ranks;
            send(static_cast<rank_t>(to), {w.rank(), static_cast<std::uint32_t>(i)});
          }
        },
        7);
    e.close();
    for (std::uint64_t from = 0; from < ranks; ++from) {
      for (std::uint64_t i = 0; i < each; ++i) {
        const bool mine = (from + i) % ranks == static_cast<std::uint64_t>(w.rank());
        EXPECT_EQ(came[from * each + i], mine ? 1 : 0) << from << " sent " << i;
      }
    }
  });
}

template <std::size_t Bytes>
struct filled {
  std::array<std::uint8_t, Bytes> bytes;
  explicit filled(std::uint64_t seed = 0) {
    random64 dice(seed);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(dice());
  }
};

// 70,000 bytes are more than a packet of any of these transports.
TEST_P(Channel, CarriesMessagesLargerThanABufferAndThanAPacket) {
  using large = filled<70'000>;
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> right = 0;
    channel<large> road(w, [&](worker_t, std::span<const large> batch) {
      EXPECT_EQ(batch.size(), 1u);
      const auto expected = std::make_unique<large>(77);
      for (const auto& m : batch) right += m.bytes == expected->bytes ? 1u : 0u;
    });
    epoch e(w);
    const auto m = std::make_unique<large>(77);
    for (rank_t to = 0; to < w.size(); ++to) {
      for (int i = 0; i < 3; ++i) road.send(0, to, *m);
    }
    e.close();
    EXPECT_EQ(right, 3 * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(w.counters().total(obs::counter::fragments) > 0, w.size() > 1);
  });
}

TEST_P(Channel, KeepsSeveralChannelsApart) {
  struct alignas(16) wide {
    std::uint64_t a, b;
  };
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> bytes = 0, words = 0, wides = 0, misaligned = 0;
    channel<std::uint8_t> narrow(w, [&](worker_t, std::span<const std::uint8_t> batch) {
      for (const auto x : batch) bytes += x == 3 ? 1u : 1000u;
    });
    channel<filled<12>> odd(w, [&](worker_t, std::span<const filled<12>> batch) {
      for (const auto& x : batch) words += x.bytes == filled<12>(9).bytes ? 1u : 1000u;
    });
    channel<wide> aligned(w, [&](worker_t, std::span<const wide> batch) {
      misaligned += reinterpret_cast<std::uintptr_t>(batch.data()) % alignof(wide);
      for (const auto& x : batch) wides += x.a + x.b == 100 ? 1u : 1000u;
    });
    epoch e(w);
    for (std::uint64_t i = 0; i < 60; ++i) {
      const auto to = static_cast<rank_t>(i) % w.size();
      narrow.send(0, to, 3);
      odd.send(0, to, filled<12>(9));
      aligned.send(0, to, {i, 100 - i});
    }
    e.close();
    EXPECT_EQ(w.sum(bytes.load()), 60 * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(w.sum(words.load()), 60 * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(w.sum(wides.load()), 60 * static_cast<std::uint64_t>(w.size()));
    EXPECT_EQ(misaligned, 0u);
  });
}

TEST_P(Channel, IsMadeAndUnmadeBetweenEpochs) {
  GetParam().run([](world& w) {
    for (std::uint64_t round = 1; round <= 20; ++round) {
      std::atomic<std::uint64_t> sum = 0;
      channel<std::uint64_t> unused(w, [](worker_t, auto) { ADD_FAILURE(); });
      channel<std::uint64_t> road(w, [&](worker_t, std::span<const std::uint64_t> batch) {
        sum += std::accumulate(batch.begin(), batch.end(), std::uint64_t{0});
      });
      epoch e(w);
      for (rank_t to = 0; to < w.size(); ++to) road.send(0, to, round);
      e.close();
      EXPECT_EQ(sum, round * static_cast<std::uint64_t>(w.size()));
    }
  });
}

TEST_P(Channel, OutlivesOthersMadeBeforeAndAfterIt) {
  GetParam().run([](world& w) {
    std::array<std::atomic<std::uint64_t>, 4> sums{};
    const auto make = [&](std::size_t which) {
      return std::make_unique<channel<std::uint64_t>>(
          w, [&sums, which](worker_t, std::span<const std::uint64_t> batch) {
            sums[which] += std::accumulate(batch.begin(), batch.end(), std::uint64_t{0});
          });
    };
    std::array roads{make(0), make(1), make(2), make(3)};
    for (std::uint64_t round = 0; round < 40; ++round) {
      const auto which = (7 * round + round / 4) % roads.size();
      roads[which].reset();
      roads[which] = make(which);
      for (auto& sum : sums) sum = 0;
      epoch e(w);
      for (std::uint64_t i = 0; i < roads.size(); ++i) {
        for (rank_t to = 0; to < w.size(); ++to) roads[i]->send(0, to, 10 * round + i);
      }
      e.close();
      for (std::uint64_t i = 0; i < roads.size(); ++i) {
        EXPECT_EQ(sums[i], (10 * round + i) * static_cast<std::uint64_t>(w.size()));
      }
    }
  });
}

// A handler on the worker that sends would show as a message handled while `sending`.
TEST_P(Channel, NeverStartsAHandlerInsideASend) {
  GetParam().run(
      [](world& w) {
        task::per_worker<bool> sending(w.workers());
        std::atomic<int> inside = 0;
        channel<std::uint64_t> road(w, [&](worker_t k, auto) { inside += sending[k] ? 1 : 0; });
        epoch e(w);
        w.parallel_for(
            40,
            [&](worker_t k, std::size_t, std::size_t) {
              sending[k] = true;
              {
                auto send = road.from(k);
                for (int i = 0; i < 50; ++i) send(i % w.size(), 1);
              }
              sending[k] = false;
            },
            1);
        e.close();
        EXPECT_EQ(inside, 0);
      },
      {.coalesce_bytes = 32, .pending_bytes = 64});
}

// Issue 11, bug 1: the messages of one sender left with the block of another before they were
// counted, so that an epoch could end while a handler still ran.
TEST_P(Channel, CountsTheMessagesOfSeveralSendersOfOneWorker) {
  struct message {
    int left;
    int padding;
  };
  GetParam().run(
      [](world& w) {
        std::atomic<std::uint64_t> begun = 0, ended = 0;
        std::unique_ptr<channel<message>> road;
        road = std::make_unique<channel<message>>(w, [&](worker_t k, auto batch) {
          begun += batch.size();
          for (const auto& m : batch) {
            if (m.left == 0) continue;
            const auto to = (w.rank() + 1) % w.size();
            auto outer = road->from(k);
            outer(to, {m.left - 1, 0});
            for (int i = 0; i < 3; ++i) road->send(k, to, {0, 0});  // ships the outer one's too
            for (int i = 0; i < 50; ++i) w.pool().step();
          }
          ended += batch.size();
        });
        for (std::uint64_t round = 1; round <= 5; ++round) {
          epoch e(w);
          road->send(0, w.rank(), {6, 0});
          e.close();
          EXPECT_EQ(begun, ended);
          EXPECT_EQ(w.sum(ended.load()), round * 25 * static_cast<std::uint64_t>(w.size()));
        }
      },
      {.coalesce_bytes = 16});
}

TEST(ChannelBuffers, LeaveWhenFull) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    std::vector<std::size_t> sizes;
    channel<std::uint64_t> road(w, [&](worker_t, auto batch) { sizes.push_back(batch.size()); },
                                {.coalesce_bytes = 80});
    epoch e(w);
    if (w.rank() == 0) {
      auto send = road.from(0);
      for (std::uint64_t i = 0; i < 104; ++i) send(1, i);
    }
    e.close();
    std::sort(sizes.begin(), sizes.end());
    auto expected = std::vector<std::size_t>(10, 10);
    expected.insert(expected.begin(), 4);
    EXPECT_EQ(sizes, w.rank() == 1 ? expected : std::vector<std::size_t>{});
  });
}

// Rank 0 goes on computing until the answer to its one message comes: it comes only if the
// part-filled block leaves by its age.
TEST(ChannelBuffers, LeaveWhenOld) {
  for (const bool ages : {true, false}) {
    const std::uint64_t age_ns = ages ? 1000 : 1'000'000'000;
    support::on_simulated_ranks(
        2, 1, 1,
        [&](world& w) {
          std::uint64_t answers = 0;
          channel<rank_t> answer(w, [&](worker_t, auto batch) { answers += batch.size(); });
          channel<rank_t> question(w, [&](worker_t k, std::span<const rank_t> batch) {
            for (const auto from : batch) answer.send(k, from, w.rank());
          });
          epoch e(w);
          std::uint64_t steps = 0;
          if (w.rank() == 0) {
            question.send(0, 1, 0);
            w.parallel_for(
                10'000, [&](worker_t, std::size_t, std::size_t) { steps += answers == 0 ? 1 : 0; },
                1);
          }
          e.close();
          EXPECT_EQ(answers, w.rank() == 0 ? 1u : 0u);
          EXPECT_EQ(steps < 10'000, ages || w.rank() == 1);
        },
        {.coalesce_age_ns = age_ns});
  }
}

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

// Rank 0, behind a gate, sends words 0, 1, ... to rank 1 in 1 KB buffers.
class BackPressure : public ::testing::Test {
 protected:
  static constexpr std::uint64_t words = 100'000;
  static constexpr std::size_t bound = 20'000, packet = 1024 + 16;
  using road = channel<std::uint64_t>;

  void run(const gated_transport::predicate& has_room,
           const std::function<void(world&, road&)>& rank_0) {
    support::on_ranks(
        2, 1,
        [&](world& w) {
          std::uint64_t came = 0, sum = 0;
          road r(w, [&](worker_t, std::span<const std::uint64_t> batch) {
            if (w.rank() == 0) {  // the start signal
              rank_0(w, r);
              return;
            }
            came += batch.size();
            sum = std::accumulate(batch.begin(), batch.end(), sum);
          });
          epoch e(w);
          if (w.rank() == 0) in_handler_ ? r.send(0, 0, 0) : rank_0(w, r);
          e.close();
          EXPECT_EQ(came, w.rank() == 1 ? words : 0);
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
  std::uint64_t send_all(world& w, road& r) {
    std::uint64_t most = 0;
    auto send = r.from(0);
    for (std::uint64_t i = 0; i < words; ++i) {
      send(1, i);
      if (!in_handler_ && i % 128 == 0) static_cast<void>(w.progress());
      const auto posted = w.counters().total(obs::counter::bytes_sent);
      most = std::max(most, posted - gate_->bytes_through());
    }
    return most;
  }

  bool in_handler_ = false;
  gated_transport* gate_ = nullptr;
};

TEST_F(BackPressure, MakesTheBodyWaitForRoom) {
  run([](std::uint64_t tries) { return tries / 100 % 2 == 1; },
      [this](world& w, road& r) {
        const auto most_waiting = send_all(w, r);
        EXPECT_GT(most_waiting, bound / 2);
        EXPECT_LE(most_waiting, bound + packet);
      });
}

// Issue 11, bug 16: a rank that waits for room runs handlers, instead of taking in more and more.
// Here there is room only once it has handled what came.
TEST(BackPressureOfTwo, HandlesWhatArrivesWhileItWaitsForRoom) {
  constexpr std::uint64_t words = 20'000;
  std::atomic<std::uint64_t> handled = 0;
  support::on_ranks(
      2, 1,
      [&](world& w) {
        std::uint64_t came = 0;
        channel<std::uint64_t> road(w, [&](worker_t, auto batch) {
          came += batch.size();
          if (w.rank() == 0) handled = came;
        });
        epoch e(w);
        w.parallel_for(words, [&](worker_t k, std::size_t begin, std::size_t end) {
          auto send = road.from(k);
          for (auto i = begin; i < end; ++i) send(1 - w.rank(), i);
        });
        e.close();
        EXPECT_EQ(came, words);
      },
      {.coalesce_bytes = 1024, .pending_bytes = 4096},
      [&](std::unique_ptr<net::transport> net) -> std::unique_ptr<net::transport> {
        if (net->self() != 0) return net;
        return std::make_unique<gated_transport>(
            std::move(net), [&](std::uint64_t) { return handled >= 4096 / sizeof(std::uint64_t); });
      });
}

// There is no room while the handler runs: if it waited for some it would try again and again,
// and by then the gate opens so that the test ends.
TEST_F(BackPressure, NeverMakesAHandlerWait) {
  in_handler_ = true;
  bool handler_ended = false;
  run([&](std::uint64_t tries) { return handler_ended || tries > 10'000; },
      [&](world& w, road& r) {
        const auto most_waiting = send_all(w, r);
        EXPECT_GT(most_waiting, words * 8 - 2 * packet);
        EXPECT_LT(gate_->tries(), 100u);
        handler_ended = true;
      });
}

}  // namespace
}  // namespace cairn::am
