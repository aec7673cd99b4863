// SPDX-License-Identifier: Apache-2.0
// What the settings of the style `specialised` change.
#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <span>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/core/progress.hpp>

#include <support/num_schedules.hpp>
#include <support/on_ranks.hpp>

namespace cairn::am::specialised_threads_test {
namespace {

world_options specialised(const specialised_options& opt, std::size_t coalesce_bytes = 4096) {
  return {.coalesce_bytes = coalesce_bytes,
          .progress = progress_style::specialised,
          .specialised = opt};
}

struct seen {
  std::uint64_t joined = 0, packets = 0, by_workers = 0, handled = 0;
  std::set<int> threads;
};

// Rank 0 sends words to rank 1 on a standing channel, on a simulated cluster.
seen send_words(const world_options& options, std::uint64_t words = 4096) {
  seen all;
  support::on_simulated_ranks(
      2, 1, 1,
      [&](world& w) {
        {
          channel<std::uint64_t> messages(w,
                                          [&](worker_t k, std::span<const std::uint64_t> batch) {
                                            all.handled += batch.size();
                                            all.threads.insert(k);
                                            if (k < w.workers()) ++all.by_workers;
                                          },
                                          {.kind = channel_kind::standing});
          w.barrier();
          if (w.rank() == 0) {
            w.parallel_for(
                words,
                [&](worker_t k, std::size_t begin, std::size_t end) {
                  auto send = messages.from(k);
                  for (auto i = begin; i < end; ++i) send(1, i);
                },
                words);
          }
        }
        w.barrier();
        if (w.rank() == 0) {
          all.joined = w.counters().total(obs::counter::buffers_joined);
          all.packets = w.counters().total(obs::counter::buffers_sent);
        }
      },
      options);
  EXPECT_EQ(all.handled, words);
  return all;
}

TEST(SpecialisedThreads, HelpersAloneHandleStandingChannels) {
  for (const int helpers : {1, 3}) {
    const auto all = send_words(specialised({.helpers = helpers, .command_block_bytes = 64}));
    EXPECT_EQ(all.by_workers, 0u);
    EXPECT_EQ(all.threads.size(), static_cast<std::size_t>(helpers));
  }
}

TEST(SpecialisedThreads, BlocksLeaveTogetherInOneBuffer) {
  const auto whole = send_words(specialised({}));
  const auto small = send_words(specialised({.command_block_bytes = 64}));
  EXPECT_EQ(whole.joined, 0u);
  EXPECT_GT(small.joined, 400u);   // of 512 blocks
  EXPECT_LT(small.packets, 256u);  // not one per block
}

TEST(SpecialisedThreads, BlocksHaveTheirSizeIfThatOfBuffersIsAutomatic) {
  EXPECT_GT(send_words(specialised({.command_block_bytes = 64}, 0)).joined, 400u);  // of 512
}

// Asks each rank `each` questions. Answers are larger, so that helpers find no room
// (helper_room.hpp).
void ask_without_room(world& w, std::uint64_t each) {
  using large = std::array<std::uint64_t, 8>;
  std::uint64_t right = 0;
  request<std::uint64_t, large> ask(
      w,
      [](worker_t, std::uint64_t x) {
        return large{x, x + 1};
      },
      [&](worker_t, std::uint64_t slot, const large& found) { right += found[1] == slot + 1; },
      {.kind = channel_kind::standing});
  {
    auto send = ask.from(main_worker);
    for (std::uint64_t i = 0; i < each; ++i) {
      for (rank_t to = 0; to < w.size(); ++to) send(to, i, slot(i));
    }
  }
  ask.finish();
  EXPECT_EQ(right, each * static_cast<std::uint64_t>(w.size()));
  w.barrier();
}

TEST(SpecialisedThreads, WithoutRoomAllQuestionsAreAnswered) {
  for (const rank_t ranks : {2, 3}) {
    for (const int helpers : {1, 2}) {
      auto options = specialised({.helpers = helpers, .channel_blocks = 1}, 1024);
      options.pending_bytes = 8192;
      const auto many = support::few_when_sanitized(20'000);  // more than rings have room for
      support::on_ranks(
          ranks, 1, [&](world& w) { ask_without_room(w, many); }, options);
      for (std::uint64_t seed = 0; seed < support::few_when_sanitized(30); ++seed) {
        support::on_simulated_ranks(
            ranks, 1, seed, [](world& w) { ask_without_room(w, 300); }, options);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::am::specialised_threads_test
