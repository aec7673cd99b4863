// SPDX-License-Identifier: Apache-2.0
#include <core/cancellation_schedule.hpp>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <cairn/core/cancellation.hpp>

namespace cairn::cancellation_test {
namespace {

using cancellation_model::ending;
using cancellation_model::fault;
using cancellation_model::schedule;

TEST(Cancellation, InEveryScheduleACallEndsEverywhereOrNowhere) {
  support::expect_every_schedule(ending::correct, [](std::uint64_t seed) {
    return schedule<cancellation>(seed, fault::none).play();
  });
}

template <class Cancellation = cancellation>
std::uint64_t caught(fault f = fault::none) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return schedule<Cancellation>(seed, f).play(); });
}
constexpr auto enough = support::num_twin_schedules / 100;

TEST(CancellationTwin, ThatIgnoresAnnouncementsIsCaught) {
  struct deaf : cancellation {
    void receive_announcement(std::uint64_t) noexcept {}
  };
  EXPECT_GT(caught<deaf>(), enough);
}

TEST(CancellationTwin, ThatStopsButDoesNotAnnounceIsCaught) {
  struct silent : cancellation {
    std::optional<std::uint64_t> announcement() noexcept {
      receive_announcement(cancellation::announcement().value_or(~std::uint64_t{0}));
      return std::nullopt;
    }
  };
  EXPECT_GT(caught<silent>(), enough);
}

TEST(CancellationTwin, ThatAnnouncesTheCollectiveThatItIsInIsCaught) {
  struct hasty : cancellation {
    std::optional<std::uint64_t> announcement() noexcept {
      const auto collective = cancellation::announcement();
      if (!collective || *collective == 1) return collective;
      receive_announcement(*collective - 1);
      return *collective - 1;
    }
  };
  EXPECT_GT(caught<hasty>(), enough);
}

TEST(CancellationTwin, ThatTakesInOldPacketsIsCaught) {
  struct undiscerning : cancellation {
    [[nodiscard]] age age_of(std::uint32_t generation) const noexcept {
      const auto right = cancellation::age_of(generation);
      return right == age::old ? age::current : right;
    }
  };
  EXPECT_GT(caught<undiscerning>(), enough);
}

TEST(CancellationTwin, ThatDoesNotKeepLaterPacketsIsCaught) {
  struct forgetful : cancellation {
    [[nodiscard]] age age_of(std::uint32_t generation) const noexcept {
      const auto right = cancellation::age_of(generation);
      return right == age::later ? age::old : right;
    }
  };
  EXPECT_GT(caught<forgetful>(), enough);
}

TEST(CancellationTwin, ThatForgetsLaterPacketsAtARestartIsCaught) {
  EXPECT_GT(caught(fault::forgets_later_packets_at_restart), enough);
}

TEST(CancellationTwin, ThatBeginsACollectiveAfterItsAnnouncementIsCaught) {
  EXPECT_GT(caught(fault::begins_after_its_announcement), enough);
}

TEST(CancellationTwin, ThatTakesItsOwnNumbersIsCaught) {
  EXPECT_GT(caught(fault::takes_its_own_numbers), enough / 10);
}

TEST(CancellationTwin, ThatDoesNotDiscardByNumberIsCaught) {
  EXPECT_GT(caught(fault::does_not_discard_by_number), enough / 10);
}

}  // namespace
}  // namespace cairn::cancellation_test
