// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/credits.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::credits_test {
namespace {

using support::num_twin_schedules;

enum class ending { correct, over_the_bound, credits_lie_idle, unfair, too_many_grants, stuck };

/// Plays one schedule of 1 to 4 workers that send requests to 1 to 3 ranks: the seed decides the
/// bound, who sends how much next, and how many answers come from where.
///
/// correct if never more requests were unanswered than the bound, no credit was free while a
/// worker waited, nobody waited for more answers than there are workers, and all was answered.
template <class Machine>
ending play(std::uint64_t seed, auto make) {
  struct demand {
    std::uint32_t waiting = 0;
    unsigned answers = 0;  // that came while it waited
  };
  random64 random(seed);
  const auto workers = static_cast<int>(1 + random.below(4));
  const auto ranks = static_cast<rank_t>(1 + random.below(3));
  const auto limit = static_cast<std::uint32_t>(1 + random.below(8));
  const auto max_requests = 1 + random.below(2 * limit);  // requests at once
  const auto eager = random.below(8);                     // in so many of 8 turns a worker sends
  Machine machine = make(ranks, limit);
  std::vector<std::vector<demand>> demands(static_cast<std::size_t>(ranks),
                                           std::vector<demand>(static_cast<std::size_t>(workers)));
  std::vector<std::uint32_t> unanswered(static_cast<std::size_t>(ranks), 0);
  for (int unsent = 40, turns = 0; turns < 2000; ++turns) {
    const auto to = static_cast<rank_t>(random.below(static_cast<unsigned>(ranks)));
    const auto t = static_cast<std::size_t>(to);
    if (unsent > 0 && random.below(8) < eager) {
      --unsent;
      const auto k = static_cast<worker_t>(random.below(static_cast<unsigned>(workers)));
      const auto n = static_cast<std::uint32_t>(1 + random.below(max_requests));
      const auto now = machine.take(k, to, n);
      if (now > n) return ending::too_many_grants;
      unanswered[t] += now;
      demands[t][static_cast<std::size_t>(k)].waiting += n - now;
    } else if (unanswered[t] > 0) {
      const auto n = static_cast<std::uint32_t>(1 + random.below(unanswered[t]));
      unanswered[t] -= n;
      for (auto& d : demands[t]) {
        if (d.waiting > 0) ++d.answers;
      }
      bool too_many = false;
      machine.give_back(to, n, [&](worker_t k, std::uint32_t m) {
        auto& d = demands[t][static_cast<std::size_t>(k)];
        too_many = too_many || m == 0 || m > d.waiting;
        d.waiting -= m;
        d.answers = 0;
        unanswered[t] += m;
      });
      if (too_many) return ending::too_many_grants;
    } else if (unsent > 0) {
      --unsent;
    }
    bool anybody_waits = false;
    for (const auto& d : demands[t]) {
      anybody_waits = anybody_waits || d.waiting > 0;
      if (d.answers >= static_cast<unsigned>(workers)) return ending::unfair;
    }
    if (unanswered[t] > limit) return ending::over_the_bound;
    if (anybody_waits && unanswered[t] < limit) return ending::credits_lie_idle;
    if (unsent == 0 && std::ranges::all_of(unanswered, [](auto n) { return n == 0; })) {
      return ending::correct;
    }
  }
  return ending::stuck;
}

TEST(Credits, EveryScheduleKeepsTheBoundAndServesAllInTurn) {
  const auto make = [](rank_t ranks, std::uint32_t limit) { return credits(ranks, limit); };
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return play<credits>(seed, make); });
}

enum class fault {
  none,
  grants_only_when_asked,
  serves_the_last,
  serves_one_fully,
  bound_per_worker
};

/// The same rules without care for speed, and perhaps with one fault.
class twin {
 public:
  twin(rank_t ranks, std::uint32_t limit, fault f)
      : lines_(static_cast<std::size_t>(ranks)),
        unanswered_(static_cast<std::size_t>(ranks)),
        limit_(limit),
        fault_(f) {}

  std::uint32_t take(worker_t k, rank_t to, std::uint32_t n) {
    auto& unanswered = unanswered_[static_cast<std::size_t>(to)];
    const auto bound = fault_ == fault::bound_per_worker ? limit_ * (1 + unsigned(k) % 2) : limit_;
    const auto now = unanswered < bound ? std::min(n, bound - unanswered) : 0;
    unanswered += now;
    if (now == n) return now;
    auto& line = lines_[static_cast<std::size_t>(to)];
    const auto found = std::ranges::find(line, k, &std::pair<worker_t, std::uint32_t>::first);
    if (found != line.end()) {
      found->second += n - now;
    } else {
      line.emplace_back(k, n - now);
    }
    return now;
  }

  void give_back(rank_t from, std::uint32_t n, auto grant) {
    auto& unanswered = unanswered_[static_cast<std::size_t>(from)];
    auto& line = lines_[static_cast<std::size_t>(from)];
    unanswered -= n;
    if (fault_ == fault::grants_only_when_asked) return;
    while (!line.empty() && unanswered < limit_) {
      const auto size = static_cast<std::uint32_t>(line.size());
      const auto i = fault_ == fault::serves_the_last ? line.size() - 1 : 0;
      auto [w, wants] = line[i];
      const auto m = std::min(wants, (limit_ - unanswered + size - 1) / size);
      unanswered += m;
      if (fault_ == fault::serves_one_fully && m < wants) {
        line[i].second -= m;
      } else {
        line.erase(line.begin() + static_cast<std::ptrdiff_t>(i));
        if (m < wants) line.emplace_back(w, wants - m);
      }
      grant(w, m);
    }
  }

 private:
  std::vector<std::vector<std::pair<worker_t, std::uint32_t>>> lines_;
  std::vector<std::uint32_t> unanswered_;
  std::uint32_t limit_;
  fault fault_;
};

std::uint64_t caught(fault f) {
  const auto make = [f](rank_t ranks, std::uint32_t limit) { return twin(ranks, limit, f); };
  return support::num_caught(ending::correct,
                             [&](std::uint64_t seed) { return play<twin>(seed, make); });
}

TEST(CreditsTwin, WithoutAFaultPassesTheSameSchedules) { EXPECT_EQ(caught(fault::none), 0u); }
TEST(CreditsTwin, ThatGrantsOnlyWhenAskedIsCaught) {
  EXPECT_GT(caught(fault::grants_only_when_asked), num_twin_schedules / 100);
}
TEST(CreditsTwin, ThatServesTheLastFirstIsCaught) {
  EXPECT_GT(caught(fault::serves_the_last), num_twin_schedules / 100);
}
TEST(CreditsTwin, ThatServesOneWorkerFullyBeforeTheNextIsCaught) {
  EXPECT_GT(caught(fault::serves_one_fully), num_twin_schedules / 100);
}
TEST(CreditsTwin, WithABoundPerWorkerIsCaught) {
  EXPECT_GT(caught(fault::bound_per_worker), num_twin_schedules / 100);
}

TEST(Credits, GiveEqualSharesInTurn) {
  constexpr worker_t first{0}, second{1};
  credits all(2, 6);
  EXPECT_EQ(all.take(first, 1, 10), 6u);
  EXPECT_EQ(all.take(second, 1, 3), 0u);
  EXPECT_EQ(all.take(first, 0, 4), 4u);  // another destination
  EXPECT_EQ(all.unanswered(1), 6u);
  std::vector<std::pair<worker_t, std::uint32_t>> grants;
  const auto grant = [&](worker_t k, std::uint32_t n) { grants.emplace_back(k, n); };
  all.give_back(1, 5, grant);
  EXPECT_EQ(grants, (decltype(grants){{first, 3}, {second, 1}, {first, 1}}));
  grants.clear();
  all.give_back(1, 6, grant);
  EXPECT_EQ(grants, (decltype(grants){{second, 2}}));
  EXPECT_EQ(all.unanswered(1), 2u);
}

TEST(Credits, AreTakenOneByOneUntilTheBoundAndNobodyWaits) {
  credits all(2, 2);
  EXPECT_TRUE(all.try_take(1));
  EXPECT_EQ(all.take(main_worker, 1, 1), 1u);
  EXPECT_FALSE(all.try_take(1));
  EXPECT_TRUE(all.try_take(0));  // another destination
  EXPECT_EQ(all.unanswered(1), 2u);
  all.give_back(1, 1, [](worker_t, std::uint32_t) { FAIL() << "nobody waits"; });
  EXPECT_TRUE(all.try_take(1));
}

TEST(Credits, RefuseRepliesWithoutARequest) {
  EXPECT_THROW(credits(2, 0), contract_violation);
  credits all(2, 3);
  EXPECT_EQ(all.take(main_worker, 1, 2), 2u);
  EXPECT_THROW(all.give_back(1, 3, [](worker_t, std::uint32_t) {}), contract_violation);
  EXPECT_THROW(all.give_back(0, 1, [](worker_t, std::uint32_t) {}), contract_violation);
  EXPECT_EQ(all.unanswered(1), 2u);
}

}  // namespace
}  // namespace cairn::am::credits_test
