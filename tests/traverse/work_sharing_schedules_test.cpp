// SPDX-License-Identifier: Apache-2.0
//
// Three workers that process entries, send each other messages with new ones, and share work, in
// schedules drawn from seeds, over memory as weak as C++ allows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/traverse/work_sharing.hpp>

#include <support/schedules.hpp>
#include <support/stepper.hpp>

namespace cairn::traverse::work_sharing_schedules_test {
namespace {

using support::stepped;
using support::stepper;

constexpr std::size_t num_workers = 3, max_entries = 24;

enum class ending { correct, stuck, ended_early, done_twice, not_done, answer_without_entries };

/// The number of the entry, and who gave it last.
struct entry {
  std::size_t number;
  std::size_t giver;
};

using good_sharing = work_sharing<entry, stepped, support::stepped_lock>;

// The broken twins.
struct clears_the_flag_late : good_sharing {
  template <class Push, class Release>
  bool take_given(bool& queue_holds, Push&& push, Release&& release) {
    if (!has_given_.load(std::memory_order_acquire)) return false;
    {
      const std::lock_guard held(lock_);
      for (const auto& e : given_) push(e);
      given_.clear();
      if (!std::exchange(queue_holds, true)) --given_holds_;
      release(std::exchange(given_holds_, 0));
    }
    has_given_.store(false, std::memory_order_relaxed);
    return true;
  }
};
struct releases_what_the_queue_holds : good_sharing {
  template <class Push, class Release>
  bool take_given(bool& queue_holds, Push&& push, Release&& release) {
    bool holds = true;
    const bool any = good_sharing::take_given(holds, push, release);
    queue_holds |= any;
    return any;
  }
};
struct keeps_what_was_given : good_sharing {
  void clear(auto&&) { requested_by_.store(nullptr, std::memory_order_relaxed); }
};
struct releases_nothing : good_sharing {
  template <class Push, class Release>
  bool take_given(bool& queue_holds, Push&& push, Release&&) {
    return good_sharing::take_given(queue_holds, push, [](std::uint64_t) {});
  }
};
struct holds_after_it_gave : good_sharing {
  template <class Hold>
  void answer_requester(std::vector<entry>& entries, Hold&& hold) {
    const bool any = !entries.empty();
    good_sharing::answer_requester(entries, [] {});
    if (any) hold();
  }
};
struct answers_before_it_gives : good_sharing {
  template <class Hold>
  void answer_requester(std::vector<entry>& entries, Hold&& hold) {
    auto* const to = static_cast<answers_before_it_gives*>(requester());
    requested_by_.store(nullptr, std::memory_order_release);
    if (entries.empty()) return;
    hold();
    to->receive(entries);
  }
};

/// The workers of a rank. An epoch is the number of its holds and of messages in flight: it has
/// ended once there are none, which the ledger finds out (am/ledger.hpp).
template <class Sharing>
class rank_of_workers {
 public:
  explicit rank_of_workers(stepper& s) : stepper_(s) {}

  ending play(std::uint64_t seed) {
    ends_ = ending::correct;
    std::vector<std::function<void()>> bodies;
    for (std::size_t k = 0; k < num_workers; ++k) {
      bodies.emplace_back([this, seed, k] { run(random64(seed).stream(k + 1), k); });
    }
    const auto prepare = [this, seed] {
      holds_ = 0;
      created_ = processed_ = 0;
      messages_ = seed % 2 == 0;
      entries_until_failure_ = seed % 4 == 1 ? 1 + seed / 4 % 6 : 0;
      failed_ = false;
      left_.emplace();
      begins_again_.emplace();
      done_ = {};
      for (auto& w : workers_) w.emplace();
      auto draw = random64(seed).stream(0);
      for (auto n = 4 + draw.below(9); n > 0; --n) add(draw.below(2), new_entry());
    };
    stepper_.play(seed, prepare, bodies);
    expect(std::ranges::count(done_, 1) == static_cast<std::ptrdiff_t>(created_), ending::not_done);
    return stepper_.stalled() ? ending::stuck : ends_;
  }

 private:
  struct worker {
    std::deque<entry> queue;
    bool holds = false;
    std::vector<entry> to_share;
    std::deque<entry> messages;
    std::array<int, num_workers> gave{}, received{};  // entries: to whom, from whom
    Sharing sharing;
  };

  void expect(bool well, ending otherwise) {
    if (!well && ends_ == ending::correct) ends_ = otherwise;
  }

  // The epoch -------------------------------------------------------------------------------------

  void hold() { ++holds_; }
  void release(std::uint64_t n) {
    holds_ -= static_cast<std::int64_t>(n);
    if (holds_ <= 0 && n != 0) expect(processed_ == created_, ending::ended_early);
  }
  bool has_ended() {
    stepper_.step();
    return holds_ <= 0 || stepper_.stalled();
  }
  entry new_entry() { return {created_++, num_workers}; }

  // ordered_work, without the order ---------------------------------------------------------------

  void add(std::size_t k, const entry& e) {
    auto& mine = *workers_[k];
    mine.queue.push_back(e);
    if (std::exchange(mine.holds, true)) return;
    hold();
  }
  // A run, and another one if it fails.
  void run(random64 draw, std::size_t k) {
    loop(draw, k);
    if (entries_until_failure_ == 0) return;
    left_->fetch_add(1, std::memory_order_acq_rel);
    if (k == 0) {
      wait([this] { return left_->load(std::memory_order_acquire) == num_workers; });
      begin_again();
      begins_again_->store(true, std::memory_order_release);
    } else {
      wait([this] { return begins_again_->load(std::memory_order_acquire); });
    }
    loop(draw, k);
  }
  void begin_again() {
    failed_ = false;
    holds_ = 0;
    for (auto& w : workers_) {
      w->sharing.clear([&](const entry& e) { receive(*w, e); });
      w->holds = !w->queue.empty();
      holds_ += w->holds ? 1 : 0;
    }
  }
  void wait(auto&& until) {
    while (!until() && !stepper_.stalled()) {
    }
  }

  void loop(random64& draw, std::size_t k) {
    auto& mine = *workers_[k];
    while (!failed_) {
      take_given(k);
      if (draw.below(3) != 0 && request_work(draw, k)) continue;
      if (!mine.queue.empty()) {
        const auto e = mine.queue.front();
        mine.queue.pop_front();
        process(draw, e);
        answer_request(k);
        if (draw.below(2) != 0) continue;
        handle_messages(k);
        continue;
      }
      if (std::exchange(mine.holds, false)) release(1);
      answer_request(k);
      handle_messages(k);
      if (has_ended()) return;
    }
  }
  // Some entries send a message with another one.
  void process(random64& draw, const entry& e) {
    stepper_.step();
    expect(++done_[e.number] == 1, ending::done_twice);
    if (messages_ && created_ < max_entries && draw.below(2) == 0) {
      hold();
      workers_[draw.below(num_workers)]->messages.push_back(new_entry());
    }
    if (++processed_ == entries_until_failure_) failed_ = true;
  }
  void handle_messages(std::size_t k) {
    auto& mine = *workers_[k];
    while (!mine.messages.empty()) {
      const auto e = mine.messages.front();
      mine.messages.pop_front();
      add(k, e);
      release(1);
    }
  }

  bool request_work(random64& draw, std::size_t k) {
    const auto other = (k + 1 + draw.below(num_workers - 1)) % num_workers;
    auto &mine = *workers_[k], &giver = *workers_[other];
    if (!mine.sharing.request_from(giver.sharing)) return false;
    for (auto looks = draw.below(2) * draw.below(4); looks > 0; --looks) {
      if (!mine.sharing.has_answered(giver.sharing)) continue;
      const bool any = take_given(k);
      expect(mine.received[other] == giver.gave[k], ending::answer_without_entries);
      return any;
    }
    return false;
  }
  void answer_request(std::size_t k) {
    auto& mine = *workers_[k];
    auto* const requester = mine.sharing.requester();
    if (requester == nullptr) return;
    for (auto n = mine.queue.size() / 2; n > 0; --n) {
      mine.to_share.push_back({mine.queue.back().number, k});
      mine.queue.pop_back();
    }
    const auto to =
        std::ranges::find_if(workers_, [requester](auto& w) { return &w->sharing == requester; });
    mine.gave[static_cast<std::size_t>(to - workers_.begin())] +=
        static_cast<int>(mine.to_share.size());
    mine.sharing.answer_requester(mine.to_share, [this] { hold(); });
  }
  bool take_given(std::size_t k) {
    auto& mine = *workers_[k];
    return mine.sharing.take_given(
        mine.holds, [&mine](const entry& e) { receive(mine, e); },
        [this](std::uint64_t n) { release(n); });
  }
  static void receive(worker& at, const entry& e) {
    at.queue.push_back(e);
    ++at.received[e.giver];
  }

  stepper& stepper_;
  std::array<std::optional<worker>, num_workers> workers_;
  std::int64_t holds_ = 0;
  std::size_t created_ = 0, processed_ = 0;
  bool messages_ = true;
  std::size_t entries_until_failure_ = 0;  // of the first run; 0: it does not fail
  bool failed_ = false;
  std::optional<stepped<std::size_t>> left_;
  std::optional<stepped<bool>> begins_again_;
  std::array<int, max_entries + 1> done_{};
  ending ends_ = ending::correct;
};

TEST(WorkSharing, EverySchedule) {
  stepper steps(num_workers);
  rank_of_workers<good_sharing> rank(steps);
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return rank.play(seed); });
}

template <class Sharing>
std::uint64_t caught(std::uint64_t schedules = support::num_twin_schedules) {
  stepper steps(num_workers);
  rank_of_workers<Sharing> rank(steps);
  return support::num_caught(
      ending::correct, [&](std::uint64_t seed) { return rank.play(seed); }, schedules);
}
constexpr auto many = support::num_twin_schedules / 1000;

TEST(WorkSharingTwin, ThatClearsTheFlagLateIsCaught) {
  EXPECT_GT(caught<clears_the_flag_late>(), many);
}
TEST(WorkSharingTwin, ThatReleasesWhatTheQueueHoldsIsCaught) {
  EXPECT_GT(caught<releases_what_the_queue_holds>(), many);
}
TEST(WorkSharingTwin, ThatKeepsWhatWasGivenIsCaught) {
  EXPECT_GT(caught<keeps_what_was_given>(), many);
}
TEST(WorkSharingTwin, ThatReleasesNothingIsCaught) {  // most schedules stall
  EXPECT_GT(caught<releases_nothing>(support::num_twin_schedules / 10), many);
}
TEST(WorkSharingTwin, ThatHoldsAfterItGaveIsCaught) {
  EXPECT_GT(caught<holds_after_it_gave>(), many);
}
TEST(WorkSharingTwin, ThatAnswersBeforeItGivesIsCaught) {
  EXPECT_GT(caught<answers_before_it_gives>(), many);
}
TEST(WorkSharingTwin, WhoseAnswerDoesNotReleaseIsCaught) {
  using twin = work_sharing<entry, support::stepped_without_release, support::stepped_lock>;
  EXPECT_GT(caught<twin>(), many);
}

}  // namespace
}  // namespace cairn::traverse::work_sharing_schedules_test
