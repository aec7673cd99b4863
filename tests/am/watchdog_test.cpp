// SPDX-License-Identifier: Apache-2.0
// What a watchdog says of epochs and collectives that do not end.
#include "core/watchdog.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>

#include <support/places.hpp>

namespace cairn::am::watchdog_test {
namespace {

class Watchdog : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(OnThreads, Watchdog, ::testing::ValuesIn(support::ring_places()),
                         support::place_name);

constexpr std::uint64_t limit_ms = 20;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Watches every rank while it runs a body that stalls; cancels all ranks once each has reported
/// the stall. Returns these reports.
///
/// is_stall   whether a rank's report is of that stall; on a slow machine others come before it
template <class IsStall, class Body>
std::map<rank_t, std::string> reports_of(const support::place& where, const IsStall& is_stall,
                                         const Body& body) {
  std::mutex guard;
  std::map<rank_t, std::string> reports;
  std::vector<world*> worlds;
  where.run([&](world& w) {
    settings config;
    config.watchdog_ms = limit_ms;
    const launch_report say = [&](const std::string& text) {
      const std::lock_guard held(guard);
      if (!is_stall(w.rank(), text)) return;
      if (!reports.emplace(w.rank(), text).second) return;
      worlds.push_back(&w);
      if (static_cast<rank_t>(reports.size()) != w.size()) return;
      for (auto* const each : worlds) each->cancel();
    };
    const watchdog watching(w, config, say);
    EXPECT_THROW(body(w), cancelled);
    const std::lock_guard all_are_cancelled(guard);  // another rank's watchdog uses this world
  });
  return reports;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST_P(Watchdog, ExplainsAnEpochWhoseHoldIsNeverReleased) {
  const auto size = GetParam().ranks;
  const auto sent = std::to_string(5 * size + 3), handled = std::to_string(5 * size + 1);
  const auto last_wave = "all ranks, in the last wave: " + sent + " sent, " + handled;
  const auto is_stall = [&](rank_t, const std::string& text) {
    return contains(text, "5 sent, 5 handled") && (size == 1 || contains(text, last_wave));
  };
  const auto reports = reports_of(GetParam(), is_stall, [](world& w) {
    channel<int> numbers(w, [](worker_t, std::span<const int>) {});
    epoch e(w);
    for (int i = 0; i < 5; ++i) numbers.send(main_worker, (w.rank() + 1) % w.size(), i);
    if (w.rank() == 0) e.hold(main_worker, 3);
    if (w.rank() == 0) e.release(main_worker, 1);
    e.close();
  });
  ASSERT_EQ(reports.size(), static_cast<std::size_t>(size));
  for (const auto& [rank, text] : reports) {
    EXPECT_TRUE(contains(first_line(text), "rank " + std::to_string(rank) +
                                               ": no progress for 0.02 s (--watchdog): epoch 1 is "
                                               "open"))
        << text;
    EXPECT_TRUE(contains(text, "\n  channel 0 int: 5 sent, 5 handled")) << text;
    EXPECT_EQ(contains(text, "work that holds the epoch (parked, queued or a task): 2 of 3"),
              rank == 0)
        << text;
    EXPECT_EQ(contains(text, last_wave), size > 1) << text;
  }
}

TEST_P(Watchdog, NamesTheRankThatACollectiveWaitsFor) {
  if (GetParam().ranks == 1) GTEST_SKIP() << "one rank waits for no other";
  const auto is_stall = [](rank_t rank, const std::string& text) {
    return contains(text, "collective 2, a reduction") ||
           (rank == 1 && !contains(text, "collective"));
  };
  const auto reports = reports_of(GetParam(), is_stall, [](world& w) {
    w.barrier();
    if (w.rank() == 1) w.wait_until([] { return false; });
    w.barrier();
  });
  ASSERT_EQ(reports.size(), static_cast<std::size_t>(GetParam().ranks));
  EXPECT_TRUE(contains(reports.at(0), "it is in collective 2, a reduction, and waits for rank 1"))
      << reports.at(0);
  EXPECT_FALSE(contains(reports.at(1), "collective")) << reports.at(1);
}

TEST_P(Watchdog, NamesTheWorkerWhoseHandlerDoesNotEnd) {
  const auto is_stall = [](rank_t, const std::string& text) {
    return contains(text, "in a handler");
  };
  const auto reports = reports_of(GetParam(), is_stall, [&](world& w) {
    channel<int> numbers(w,
                         [&](worker_t, std::span<const int>) {
                           while (!w.messages().interrupted()) {
                           }
                         },
                         {.name = "marks"});
    epoch e(w);
    numbers.send(main_worker, w.rank(), 1);
    e.close();
  });
  for (const auto& [rank, text] : reports) {
    EXPECT_TRUE(contains(text, "\n  in a handler: worker ")) << text;
    EXPECT_TRUE(contains(text, "channel 0 marks: 1 sent, 0 handled")) << text;
  }
}

TEST(WatchdogAlone, SaysNothingWhileLoopsProgress) {
  support::on_ranks(1, 1, [](world& w) {
    settings config;
    config.watchdog_ms = 1000;
    const launch_report say = [](const std::string& text) { ADD_FAILURE() << text; };
    const watchdog watching(w, config, say);
    for (int i = 0; i < 1000; ++i) {
      w.parallel_for(1000, [](worker_t, std::size_t, std::size_t) {});
    }
  });
}

}  // namespace
}  // namespace cairn::am::watchdog_test
