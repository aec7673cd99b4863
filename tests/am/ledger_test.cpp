// SPDX-License-Identifier: Apache-2.0
#include <am/ledger_schedule.hpp>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/am/ledger.hpp>

namespace cairn::am::ledger_test {
namespace {

using ledger_model::ending;
using ledger_model::fault;
using ledger_model::schedule;

TEST(Ledger, NeverEndsAnEpochEarlyAndAlwaysEndsIt) {
  support::expect_every_schedule(ending::all_handled, [](std::uint64_t seed) {
    return schedule<ledger>(seed, fault::none).play();
  });
}

template <class Detector = ledger>
std::uint64_t caught(fault f) {
  return support::num_caught(
      ending::all_handled, [f](std::uint64_t seed) { return schedule<Detector>(seed, f).play(); },
      support::num_schedules / 4);  // few catch a wave that begins early
}

TEST(LedgerTwin, WithASingleWaveIsCaught) {
  struct single_wave {
    bool finished_after(const message_counts& wave) { return wave.sent == wave.handled; }
  };
  EXPECT_GT(caught<single_wave>(fault::none), 10u);
}

TEST(LedgerTwin, ThatCountsSentAtFlushIsCaught) {
  EXPECT_GT(caught(fault::counts_sent_at_flush), 10u);
}
TEST(LedgerTwin, ThatCountsMergedMessagesAtTheSenderIsCaught) {
  EXPECT_GT(caught(fault::counts_merged_at_the_sender), 10u);
}
TEST(LedgerTwin, ThatDoesNotCountMergedMessagesAtAHopIsCaught) {
  EXPECT_GT(caught(fault::does_not_count_merged_at_a_hop), 10u);
}
TEST(LedgerTwin, ThatCountsForwardedMessagesAsHandledIsCaught) {
  EXPECT_GT(caught(fault::counts_forwarded_as_handled), 10u);
}
TEST(LedgerTwin, ThatCountsHandledBeforeItsSendsIsCaught) {
  EXPECT_GT(caught(fault::counts_handled_before_its_sends), 10u);
}
TEST(LedgerTwin, ThatReleasesAHoldBeforeItsSendsIsCaught) {
  EXPECT_GT(caught(fault::releases_before_its_sends), 10u);
}
TEST(LedgerTwin, ThatDoesNotHoldIsCaught) { EXPECT_GT(caught(fault::does_not_hold), 10u); }
TEST(LedgerTwin, ThatForgetsParkedWorkIsCaught) {
  EXPECT_GT(caught(fault::forgets_parked_work), 10u);
}
TEST(LedgerTwin, ThatForgetsUnfinishedGroupsIsCaught) {
  EXPECT_GT(caught(fault::forgets_unfinished_groups), 10u);
}
TEST(LedgerTwin, ThatBeginsAWaveBeforeTheLastHasEndedIsCaught) {
  EXPECT_GT(caught(fault::begins_a_wave_before_the_last_has_ended), 10u);
}

TEST(LedgerTwin, ThatDoesNotCountLeadingMessagesIsCaught) {
  EXPECT_GT(caught(fault::does_not_count_leading_messages), 10u);
}

TEST(Ledger, EveryEarlyEndByAHandlerThatShouldNotSendIsNoticed) {
  std::uint64_t noticed = 0, unnoticed = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    const auto end = schedule<ledger>(seed, fault::sends_from_silent_handlers).play();
    noticed += end == ending::early_noticed;
    unnoticed += end == ending::early;
  }
  EXPECT_GT(noticed, 10u);
  EXPECT_EQ(unnoticed, 0u);
}

TEST(Ledger, NeedsTwoEqualWavesInEveryEpochWithLeadingMessages) {
  ledger l;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_FALSE(l.finished_after({epoch, epoch, 1}));
    EXPECT_TRUE(l.finished_after({epoch, epoch, 1}));
    EXPECT_FALSE(l.finished_after({epoch + 1, epoch, 1}));
    EXPECT_FALSE(l.finished_after({epoch + 1, epoch, 1}));
    EXPECT_FALSE(l.finished_after({epoch + 1, epoch + 1, 1}));
    l.reset();
  }
}

TEST(Ledger, EndsWhileMessagesOfStandingChannelsAreSent) {
  ledger l;
  EXPECT_FALSE(l.finished_after({5, 5, 1}));
  EXPECT_TRUE(l.finished_after({5, 5, 2}));
}

TEST(Ledger, NeedsOneWaveWithoutLeadingMessages) {
  ledger l;
  EXPECT_FALSE(l.finished_after({3, 2, 0}));
  EXPECT_TRUE(l.finished_after({3, 3, 0}));
  EXPECT_TRUE(l.finished_after({3, 3, 0}));
  EXPECT_FALSE(l.finished_after({4, 4, 1}));
}

}  // namespace
}  // namespace cairn::am::ledger_test
