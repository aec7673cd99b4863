// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/epoch.hpp>
#include <cairn/am/piece_channel.hpp>
#include <cairn/base/random.hpp>

#include <support/places.hpp>

namespace cairn::am::piece_channel_test {
namespace {

class PieceChannel : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, PieceChannel, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

std::vector<std::byte> message_of(rank_t r, std::uint64_t tag, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    message[i] = static_cast<std::byte>(mix64(static_cast<std::uint64_t>(r) << 40 ^ tag << 32 ^ i));
  }
  return message;
}

constexpr std::size_t sizes[] = {30'000, 0, 1, piece_channel::piece_bytes,
                                 piece_channel::piece_bytes + 1};

/// Every rank sends messages of all sizes to the next rank; a message's tag is its size's number.
struct ring_of_messages {
  ring_of_messages(world& the_world, const piece_options& opt)
      : w(the_world),
        before((w.rank() + w.size() - 1) % w.size()),
        received(std::size(sizes)),
        pieces(std::size(sizes)),
        channel(
            w,
            [this](worker_t, const piece& p) {
              wrong += p.from != before || p.total != sizes[p.tag] ? 1 : 0;
              std::ranges::copy(p.bytes,
                                received[p.tag].begin() + static_cast<std::ptrdiff_t>(p.offset));
              ++pieces[p.tag];
            },
            opt) {
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      sent.push_back(message_of(w.rank(), i, sizes[i]));
    }
  }
  void send_all() {
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      received[i].assign(sizes[i], std::byte{0});
      pieces[i] = 0;
    }
    w.barrier();
    w.run([this](worker_t k) {
      const auto workers = static_cast<std::size_t>(w.workers());
      for (auto i = static_cast<std::size_t>(k); i < std::size(sizes); i += workers) {
        channel.send(k, (w.rank() + 1) % w.size(), sent[i], i);
      }
    });
  }
  void judge() {
    EXPECT_EQ(wrong, 0);
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      EXPECT_EQ(pieces[i], std::max<std::size_t>(1, (sizes[i] + piece_channel::piece_bytes - 1) /
                                                        piece_channel::piece_bytes));
      EXPECT_EQ(received[i], message_of(before, i, sizes[i])) << sizes[i];
    }
  }

  world& w;
  rank_t before;
  std::vector<std::vector<std::byte>> sent, received;
  std::vector<std::atomic<std::uint64_t>> pieces;
  std::atomic<int> wrong = 0;
  piece_channel channel;
};

TEST_P(PieceChannel, InAnEpochDeliversEachByteOnce) {
  for (const std::uint32_t window : {1u, 3u, 64u}) {
    GetParam().run([&](world& w) {
      ring_of_messages all(w, {.max_unanswered = window});
      for (int round = 0; round < 2; ++round) {
        epoch e(w);
        all.send_all();
        e.close();
        all.judge();
      }
    });
  }
}

// With one rank the body may go on after an exception.
TEST(PieceChannelOnOneRank, AnAbandonedEpochLeavesNothing) {
  world w(2);
  ring_of_messages all(w, {.max_unanswered = 2});
  for (int round = 0; round < 3; ++round) {
    const auto leave = [&] {
      epoch e(w);
      all.send_all();
      throw std::runtime_error("the body broke");
    };
    EXPECT_THROW(leave(), std::runtime_error);
    epoch e(w);
    all.send_all();
    e.close();
    all.judge();
  }
}

TEST_P(PieceChannel, StandingDeliversEachByteOnce) {
  GetParam().run([&](world& w) {
    ring_of_messages all(w, {.kind = channel_kind::standing, .max_unanswered = 5});
    for (int round = 0; round < 2; ++round) {
      all.send_all();
      all.channel.finish();
      w.barrier();
      all.judge();
    }
  });
}

// The most bytes that a rank holds while rank 0 sends a long message to the last one.
std::uint64_t max_held(world& w, std::uint32_t window) {
  constexpr std::size_t long_bytes = std::size_t{4} << 20;
  const auto message = message_of(w.rank(), 0, w.rank() == 0 ? long_bytes : 0);
  std::atomic<std::uint64_t> bytes = 0, held = 0;
  const auto look = [&] { held = std::max<std::uint64_t>(held, w.messages().held_bytes()); };
  piece_channel channel(w,
                        [&](worker_t, const piece& p) {
                          bytes += p.bytes.size();
                          look();
                        },
                        {.max_unanswered = window});
  epoch e(w);
  if (w.rank() == 0) channel.send(main_worker, w.size() - 1, message);
  w.run([&](worker_t k) {
    do look();
    while (!e.try_close(k, worker_activity::idle));
  });
  EXPECT_EQ(bytes, w.rank() == w.size() - 1 ? long_bytes : 0);
  return w.max(held.load());
}

TEST_P(PieceChannel, HoldsNoMoreOfALongMessageThanItsWindow) {
  GetParam().run(
      [](world& w) {
        EXPECT_LT(max_held(w, 16), 1u << 16);
        // Between ranks the transport may hold what a wide window lets out.
        const auto by_wide_window = max_held(w, 4096);
        EXPECT_TRUE(w.size() > 1 || by_wide_window > 1u << 20);
      },
      {.coalesce_bytes = 4096});
}

}  // namespace
}  // namespace cairn::am::piece_channel_test
