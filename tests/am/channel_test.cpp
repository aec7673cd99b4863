// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>

#include <support/places.hpp>

namespace cairn::am::channel_test {
namespace {

// The worker is the first argument, the rank the second: the other order does not compile.
template <class First, class Second>
concept sends = requires(channel<int>& sent_messages, First first, Second second) {
  sent_messages.send(first, second, 1);
};
static_assert(sends<worker_t, rank_t> && !sends<rank_t, worker_t>);

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
    std::vector<std::atomic<int>> received(ranks * each);
    channel<message> sent_messages(w, [&](worker_t, std::span<const message> batch) {
      for (const auto& m : batch) received[static_cast<std::uint64_t>(m.from) * each + m.number]++;
    });
    epoch e(w);
    w.parallel_for(
        each,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto send = sent_messages.from(k);
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
        EXPECT_EQ(received[from * each + i], mine ? 1 : 0) << from << " sent " << i;
      }
    }
  });
}

template <std::size_t Bytes>
struct filled {
  std::array<std::uint8_t, Bytes> bytes;
  explicit filled(std::uint64_t seed = 0) {
    random64 random(seed);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
  }
};

// 70,000 bytes are more than a packet of any of these transports.
TEST_P(Channel, CarriesMessagesLargerThanABufferAndThanAPacket) {
  using large = filled<70'000>;
  GetParam().run([](world& w) {
    std::atomic<std::uint64_t> right = 0;
    channel<large> sent_messages(w, [&](worker_t, std::span<const large> batch) {
      EXPECT_EQ(batch.size(), 1u);
      const auto expected = std::make_unique<large>(77);
      for (const auto& m : batch) right += m.bytes == expected->bytes ? 1u : 0u;
    });
    epoch e(w);
    const auto m = std::make_unique<large>(77);
    for (rank_t to = 0; to < w.size(); ++to) {
      for (int i = 0; i < 3; ++i) sent_messages.send(main_worker, to, *m);
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
      narrow.send(main_worker, to, 3);
      odd.send(main_worker, to, filled<12>(9));
      aligned.send(main_worker, to, {i, 100 - i});
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
      channel<std::uint64_t> sent_messages(w, [&](worker_t, std::span<const std::uint64_t> batch) {
        sum += std::accumulate(batch.begin(), batch.end(), std::uint64_t{0});
      });
      epoch e(w);
      for (rank_t to = 0; to < w.size(); ++to) sent_messages.send(main_worker, to, round);
      e.close();
      EXPECT_EQ(sum, round * static_cast<std::uint64_t>(w.size()));
    }
  });
}

TEST_P(Channel, OutlivesOthersMadeBeforeAndAfterIt) {
  GetParam().run([](world& w) {
    std::array<std::atomic<std::uint64_t>, 4> sums{};
    const auto make = [&](std::size_t chosen) {
      return std::make_unique<channel<std::uint64_t>>(
          w, [&sums, chosen](worker_t, std::span<const std::uint64_t> batch) {
            sums[chosen] += std::accumulate(batch.begin(), batch.end(), std::uint64_t{0});
          });
    };
    std::array channels{make(0), make(1), make(2), make(3)};
    for (std::uint64_t round = 0; round < 40; ++round) {
      const auto chosen = (7 * round + round / 4) % channels.size();
      channels[chosen].reset();
      channels[chosen] = make(chosen);
      for (auto& sum : sums) sum = 0;
      epoch e(w);
      for (std::uint64_t i = 0; i < channels.size(); ++i) {
        for (rank_t to = 0; to < w.size(); ++to) channels[i]->send(main_worker, to, 10 * round + i);
      }
      e.close();
      for (std::uint64_t i = 0; i < channels.size(); ++i) {
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
        channel<std::uint64_t> sent_messages(
            w, [&](worker_t k, auto) { inside += sending[k] ? 1 : 0; });
        epoch e(w);
        w.parallel_for(
            40,
            [&](worker_t k, std::size_t, std::size_t) {
              sending[k] = true;
              {
                auto send = sent_messages.from(k);
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

// The messages of one sender left with the block of another before they were
// counted, so that an epoch could end while a handler still ran.
TEST_P(Channel, CountsTheMessagesOfSeveralSendersOfOneWorker) {
  struct message {
    int left;
    int padding;
  };
  GetParam().run(
      [](world& w) {
        std::atomic<std::uint64_t> begun = 0, ended = 0;
        std::unique_ptr<channel<message>> sent_messages;
        sent_messages = std::make_unique<channel<message>>(w, [&](worker_t k, auto batch) {
          begun += batch.size();
          for (const auto& m : batch) {
            if (m.left == 0) continue;
            const auto to = (w.rank() + 1) % w.size();
            auto outer = sent_messages->from(k);
            outer(to, {m.left - 1, 0});
            for (int i = 0; i < 3; ++i)
              sent_messages->send(k, to, {0, 0});  // ships the outer one's too
            for (int i = 0; i < 50; ++i) w.pool().switch_point();
          }
          ended += batch.size();
        });
        for (std::uint64_t round = 1; round <= 5; ++round) {
          epoch e(w);
          sent_messages->send(main_worker, w.rank(), {6, 0});
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
    channel<std::uint64_t> sent_messages(
        w, [&](worker_t, auto batch) { sizes.push_back(batch.size()); }, {.coalesce_bytes = 80});
    epoch e(w);
    if (w.rank() == 0) {
      auto send = sent_messages.from(main_worker);
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
            question.send(main_worker, 1, 0);
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

}  // namespace
}  // namespace cairn::am::channel_test
