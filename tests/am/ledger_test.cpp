// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/ledger.hpp>
#include <cairn/base/random.hpp>

#include <support/num_schedules.hpp>

namespace cairn::am {
namespace {

using support::num_schedules;
constexpr std::uint64_t num_twin_schedules = 25'000;  // the first of them
constexpr int max_turns = 100'000;                    // the longest of the schedules takes 11,000

enum class fault {
  none,
  counts_sent_at_flush,
  counts_handled_before_its_sends,
  forgets_parked_work,
  forgets_unfinished_groups,
  begins_a_wave_before_the_last_has_ended,
};

enum class ending { all_handled, early, never };

/// A model of ranks with workers, blocks and buffers, whose every step the seed decides: one to
/// three epochs with counts that go on, buffers that arrive late, in any order, or before their
/// epoch, and waves that each rank joins when it likes, reading one counter at a time.
///
/// A message is a number: its handler sends up to two smaller ones. A worker that takes one
/// from a buffer handles it, groups it with others, parks it, or drops it as merged.
template <class Detector>
class schedule {
 public:
  schedule(std::uint64_t seed, fault f) : dice_(seed), fault_(f) {
    // Who has run ahead in the waves of one epoch cannot count for the next.
    num_epochs_ = f == fault::begins_a_wave_before_the_last_has_ended ? 1 : 1 + below(3);
    handled_of_all_first_ = below(2) == 0;
    for (auto* patience : {&flushing_, &grouping_, &parking_}) *patience = 1 + below(4);
    for (auto* haste : {&network_, &handlers_, &counters_}) *haste = std::size_t{1} << below(6);
    ranks_.resize(1 + below(3));
    late_ = below(2 * ranks_.size());
    const auto num_workers = 1 + below(2);
    for (auto& r : ranks_) {
      r.workers.resize(num_workers);
      for (auto& w : r.workers) w.blocks.resize(ranks_.size());
    }
  }

  ending play() {
    for (int turn = 0; turn < max_turns; ++turn) {
      auto& r = ranks_[below(ranks_.size())];
      auto& w = r.workers[below(r.workers.size())];
      switch (below(4)) {
        case 0:
          repeat(network_, [&] { return deliver(); });
          break;
        case 1:
          repeat(handlers_, [&] { return work(r, w); });
          break;
        case 2:
          if (index(r) == late_ && !chance(8)) break;
          repeat(counters_, [&] { return wave(r); });
          break;
        default:
          body(r);
      }
      if (early_) return ending::early;
      if (epochs_closed_ == num_epochs_ * ranks_.size()) return ending::all_handled;
    }
    return ending::never;
  }

 private:
  using messages = std::vector<int>;
  struct worker {
    message_counts counts;
    std::vector<messages> blocks;  // by destination
    messages taken, group, parked;
    // The handler that is running: what it will send, and the messages that it handles.
    messages to_send;
    std::uint64_t running = 0, to_count = 0;
  };
  struct buffer {
    std::size_t epoch, to;
    messages items;
  };
  struct rank {
    std::vector<worker> workers;
    std::size_t epoch = 0;
    bool open = false;
    std::uint64_t body_sends = 0;
    std::vector<buffer> inbox, early;
    Detector detector;
    std::size_t waves_joined = 0, waves_learned = 0, counters_read = 0;
    message_counts reading;
  };
  struct global_wave {
    message_counts sum;
    std::size_t joined = 0;
  };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(dice_.below(n)); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <class T>
  T draw(std::vector<T>& from) {
    std::swap(from[below(from.size())], from.back());
    auto drawn = std::move(from.back());
    from.pop_back();
    return drawn;
  }
  std::size_t index(const rank& r) const { return static_cast<std::size_t>(&r - ranks_.data()); }
  std::uint64_t& unhandled(const rank& r) { return unhandled_[r.epoch]; }

  /// Lets one actor act up to `haste` times, as long as it has something to do.
  void repeat(std::size_t haste, auto&& act) {
    for (auto n = 1 + below(haste); n > 0 && act(); --n) {
    }
  }

  void body(rank& r) {
    if (!r.open) {
      if (r.epoch == num_epochs_) return;
      ++r.epoch;
      r.open = true;
      r.body_sends = below(3);
      r.inbox = std::exchange(r.early, {});
    } else if (r.body_sends > 0 && r.workers[0].running == 0) {
      --r.body_sends;
      append(r, r.workers[0], static_cast<int>(1 + below(4)));
    }
  }

  bool work(rank& r, worker& w) {
    if (!r.open) return false;
    if (w.running > 0) {
      go_on(r, w);
    } else if (const auto to = below(ranks_.size()); !w.blocks[to].empty() && chance(flushing_)) {
      flush(r, w, to);
    } else if (!w.group.empty() && chance(grouping_)) {
      handle(w, std::exchange(w.group, {}), fault_ == fault::forgets_unfinished_groups);
    } else if (!w.parked.empty() && chance(parking_)) {
      handle(w, {draw(w.parked)}, fault_ == fault::forgets_parked_work);
    } else {
      if (w.taken.empty() && !r.inbox.empty()) w.taken = draw(r.inbox).items;
      if (w.taken.empty()) return false;
      decide(r, w, draw(w.taken));
    }
    return true;
  }

  void decide(rank& r, worker& w, int m) {
    const auto put_aside = [&](messages& pile, fault f) {
      pile.push_back(m);
      if (fault_ == f) ++w.counts.handled;
    };
    switch (below(8)) {
      case 0:
        ++w.counts.handled;
        --unhandled(r);
        break;
      case 1:
        put_aside(w.parked, fault::forgets_parked_work);
        break;
      case 2:
      case 3:
        put_aside(w.group, fault::forgets_unfinished_groups);
        break;
      default:
        handle(w, {m}, false);
    }
  }

  void handle(worker& w, const messages& group, bool already_counted) {
    w.running = group.size();
    w.to_count = already_counted ? 0 : group.size();
    for (const int m : group) {
      for (auto n = m > 1 ? (1 + below(5)) / 2 : 0; n > 0; --n) w.to_send.push_back(m - 1);
    }
    if (fault_ == fault::counts_handled_before_its_sends) {
      w.counts.handled += std::exchange(w.to_count, 0);
    }
  }

  void go_on(rank& r, worker& w) {
    if (!w.to_send.empty()) return append(r, w, draw(w.to_send));
    unhandled(r) -= std::exchange(w.running, 0);
    w.counts.handled += w.to_count;
  }

  void append(rank& r, worker& w, int m) {
    w.blocks[below(ranks_.size())].push_back(m);
    ++unhandled(r);
    if (fault_ != fault::counts_sent_at_flush) ++w.counts.sent;
  }

  void flush(rank& r, worker& w, std::size_t to) {
    if (w.blocks[to].empty()) return;
    buffer b{r.epoch, to, std::exchange(w.blocks[to], {})};
    if (fault_ == fault::counts_sent_at_flush) w.counts.sent += b.items.size();
    if (b.items.size() > 1 && below(4) == 0) {  // two of them merge
      b.items.pop_back();
      ++w.counts.handled;
      --unhandled(r);
    }
    (to == index(r) ? r.inbox : flying_).push_back(std::move(b));
  }

  bool deliver() {
    if (flying_.empty()) return false;
    auto b = draw(flying_);
    auto& r = ranks_[b.to];
    (r.open && r.epoch == b.epoch ? r.inbox : r.early).push_back(std::move(b));
    return true;
  }

  bool wave(rank& r) {
    if (!r.open || r.body_sends > 0) return false;
    const std::size_t ahead = fault_ == fault::begins_a_wave_before_the_last_has_ended ? 1 : 0;
    if (r.waves_learned < r.waves_joined && waves_[r.waves_learned].joined == ranks_.size()) {
      learn(r);
    } else if (r.counters_read > 0 || r.waves_joined <= r.waves_learned + ahead) {
      read_one(r);
    } else {
      return false;
    }
    return true;
  }

  void read_one(rank& r) {
    const auto n = r.workers.size();
    const auto i = r.counters_read++;
    if (handled_of_all_first_ ? i < n : i % 2 == 0) {
      r.reading.handled += r.workers[handled_of_all_first_ ? i : i / 2].counts.handled;
    } else {
      r.reading.sent += r.workers[handled_of_all_first_ ? i - n : i / 2].counts.sent;
    }
    if (r.counters_read < 2 * n) return;
    r.counters_read = 0;
    if (waves_.size() == r.waves_joined) waves_.emplace_back();
    auto& wave = waves_[r.waves_joined++];
    ++wave.joined;
    const auto mine = std::exchange(r.reading, {});
    wave.sum.sent += mine.sent;
    wave.sum.handled += mine.handled;
  }

  void learn(rank& r) {
    if (!r.detector.finished_after(waves_[r.waves_learned++].sum)) return;
    early_ = unhandled(r) != 0;
    r.open = false;
    ++epochs_closed_;
  }

  random64 dice_;
  fault fault_;
  std::size_t num_epochs_;
  bool handled_of_all_first_;
  std::size_t flushing_, grouping_, parking_;  // done in one of so many chances
  std::size_t network_, handlers_, counters_;  // actions in one turn, at most
  std::size_t late_;  // the rank that is slow to join waves, if there is one
  std::vector<rank> ranks_;
  std::vector<buffer> flying_;
  std::vector<global_wave> waves_;
  std::array<std::uint64_t, 4> unhandled_{};  // by epoch: the truth
  std::size_t epochs_closed_ = 0;             // by any rank
  bool early_ = false;
};

TEST(Ledger, NeverEndsAnEpochEarlyAndAlwaysEndsIt) {
  for (std::uint64_t seed = 0; seed < num_schedules; ++seed) {
    ASSERT_EQ(schedule<ledger>(seed, fault::none).play(), ending::all_handled) << "seed " << seed;
  }
}

/// Of the first schedules above, those in which a broken twin ends an epoch early.
template <class Detector = ledger>
std::uint64_t caught(fault f) {
  std::uint64_t early = 0;
  for (std::uint64_t seed = 0; seed < num_twin_schedules; ++seed) {
    early += schedule<Detector>(seed, f).play() == ending::early;
  }
  testing::Test::RecordProperty("caught", std::to_string(early));
  return early;
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

TEST(LedgerTwin, ThatCountsHandledBeforeItsSendsIsCaught) {
  EXPECT_GT(caught(fault::counts_handled_before_its_sends), 10u);
}

TEST(LedgerTwin, ThatForgetsParkedWorkIsCaught) {
  EXPECT_GT(caught(fault::forgets_parked_work), 10u);
}

TEST(LedgerTwin, ThatForgetsUnfinishedGroupsIsCaught) {
  EXPECT_GT(caught(fault::forgets_unfinished_groups), 10u);
}

TEST(LedgerTwin, ThatBeginsAWaveBeforeTheLastHasEndedIsCaught) {
  EXPECT_GT(caught(fault::begins_a_wave_before_the_last_has_ended), 10u);
}

TEST(Ledger, NeedsTwoEqualWavesInEveryEpoch) {
  ledger l;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_FALSE(l.finished_after({epoch, epoch}));
    EXPECT_TRUE(l.finished_after({epoch, epoch}));
    EXPECT_FALSE(l.finished_after({epoch + 1, epoch}));
    EXPECT_FALSE(l.finished_after({epoch + 1, epoch}));
    EXPECT_FALSE(l.finished_after({epoch + 1, epoch + 1}));
    l.reset();
  }
}

}  // namespace
}  // namespace cairn::am
