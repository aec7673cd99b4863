// SPDX-License-Identifier: Apache-2.0
// Messages that ranks forward and combine, under the counts of the ledger.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/combine_table.hpp>
#include <cairn/am/ledger.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/am/route.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::routed_ledger_test {
namespace {

enum class fault {
  none,
  counts_forwarded_as_handled,
  counts_forwarded_as_sent,
  drops_what_it_forwards,
  hands_all_to_the_handler,
  forgets_merged_messages,
  joins_copies,
};
enum class ending { right, early, wrong, never };

struct parcel {
  rank_t to;
  std::uint64_t weight, key;  // keys of different ranks differ
  int left;                   // hops that its handler's own messages may still make
};
struct summed {
  static std::uint64_t key(const parcel& m) { return m.key; }
  static void combine(parcel& kept, const parcel& m) { kept.weight += m.weight; }
};

/// One to six ranks under any scheme, with or without tables. The seed decides which rank sends,
/// which block leaves, which buffer arrives, when each rank reads each counter for a wave, and,
/// with automatic routing, when a rank joins its blocks for hops.
class schedule {
 public:
  schedule(std::uint64_t seed, fault f) : random_(seed), fault_(f) {
    const auto size = static_cast<rank_t>(1 + below(6));
    constexpr routing schemes[] = {routing::direct, routing::grid, routing::hypercube,
                                   routing::machine};
    const auto scheme = schemes[below(4)];
    chooses_ = scheme == routing::grid && below(2) == 0;
    std::vector<int> machine_of;
    for (rank_t r = 0; r < size; ++r) machine_of.push_back(r % 2);
    const auto entries = below(2) == 0 ? 0 : below(8);
    for (rank_t r = 0; r < size; ++r) {
      ranks_.push_back({route(scheme, r, size, machine_of),
                        {},
                        combine_table<parcel>({.entries = entries, .keys = 64}),
                        {},
                        1 + below(4)});
      ranks_.back().blocks.resize(static_cast<std::size_t>(size));
    }
  }

  ending play() {
    for (int turn = 0; turn < 20'000; ++turn) {
      auto& r = ranks_[below(ranks_.size())];
      switch (below(5)) {
        case 0:
          if (r.to_send > 0) --r.to_send, send(r, 2);
          break;
        case 1:
          ship(r);
          break;
        case 2:
          deliver();
          break;
        case 3:
          if (below(4) == 0) r.table.drain([&](const parcel& m) { append(r, m); });
          break;
        default:
          if (join_wave(r))
            return sent_ != came_ ? ending::early : wrong_ ? ending::wrong : ending::right;
      }
    }
    return ending::never;
  }

 private:
  struct rank {
    route way;
    std::vector<std::vector<parcel>> blocks;
    combine_table<parcel> table;
    message_counts counts;
    std::uint64_t to_send;
    message_counts reading = {};
    int counters_read = 0;
  };
  struct buffer {
    std::size_t to;
    std::vector<parcel> items;
  };

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }

  void append(rank& r, const parcel& m) {
    const auto hop = chooses_ ? m.to : r.way.next_hop(m.to);
    r.blocks[static_cast<std::size_t>(hop)].push_back(m);
  }
  offered offer(rank& r, const parcel& m) {
    return r.table.offer(summed{}, m, [&](const parcel& out) { append(r, out); });
  }
  void send(rank& r, int left) {
    const auto to = static_cast<rank_t>(below(ranks_.size()));
    ++sent_;
    const auto key = static_cast<std::uint64_t>(to) * 2 + below(2);
    if (offer(r, {to, 1, key, left}) != offered::merged) ++r.counts.sent;
  }
  void join(rank& r) {
    for (rank_t to = 0; to < static_cast<rank_t>(ranks_.size()); ++to) {
      const auto hop = r.way.next_hop(to);
      if (hop == to) continue;
      auto& from = r.blocks[static_cast<std::size_t>(to)];
      auto& joined = r.blocks[static_cast<std::size_t>(hop)];
      joined.insert(joined.end(), from.begin(), from.end());
      if (fault_ != fault::joins_copies) from.clear();
    }
  }
  void ship(rank& r) {
    if (chooses_ && below(2) == 0) join(r);
    const auto to = below(ranks_.size());
    if (!r.blocks[to].empty()) in_flight_.push_back({to, std::exchange(r.blocks[to], {})});
  }
  void forward(rank& r, const parcel& m) {
    if (fault_ == fault::drops_what_it_forwards) return;
    r.counts.handled += fault_ == fault::counts_forwarded_as_handled;
    r.counts.sent += fault_ == fault::counts_forwarded_as_sent;
    const bool merged = offer(r, m) == offered::merged;
    if (merged && fault_ != fault::forgets_merged_messages) ++r.counts.handled;
  }
  void deliver() {
    if (in_flight_.empty()) return;
    std::swap(in_flight_[below(in_flight_.size())], in_flight_.back());
    auto b = std::move(in_flight_.back());
    in_flight_.pop_back();
    auto& r = ranks_[b.to];
    std::span<parcel> own(b.items);
    if (fault_ != fault::hands_all_to_the_handler) {
      own = keep_own(
          r.way.self(), own, [](const parcel& m) { return m.to; },
          [&](rank_t, const parcel& m) { forward(r, m); });
    }
    for (const auto& m : own) {
      wrong_ = wrong_ || m.to != r.way.self();
      came_ += m.weight;
      if (m.left > 0 && below(3) == 0) send(r, m.left - 1);
    }
    r.counts.handled += own.size();
  }

  // The next rank reads `handled`, later `sent`. Returns whether the epoch has ended.
  bool join_wave(rank& r) {
    if (r.counters_read == 2) return false;
    if (r.counters_read++ == 0) {
      r.reading.handled = r.counts.handled;
      return false;
    }
    wave_.sent += r.counts.sent;
    wave_.handled += r.reading.handled;
    wave_.leading += 1;  // bodies send between waves, see below
    if (++joined_ < ranks_.size()) return false;
    joined_ = 0;
    for (auto& each : ranks_) each.counters_read = 0;
    // The body's messages are sent before a rank takes part in a real wave; here they may come
    // later, and hold the end off.
    for (const auto& each : ranks_) {
      if (each.to_send > 0) return ledger_.reset(), wave_ = {}, false;
    }
    return ledger_.finished_after(std::exchange(wave_, {}));
  }

  random64 random_;
  fault fault_;
  bool chooses_ = false;
  std::vector<rank> ranks_;
  std::vector<buffer> in_flight_;
  ledger ledger_;
  message_counts wave_;
  std::size_t joined_ = 0;
  std::uint64_t sent_ = 0, came_ = 0;
  bool wrong_ = false;
};

TEST(RoutedLedger, EveryScheduleEndsOnceAllMessagesHaveCome) {
  support::expect_every_schedule(
      ending::right, [](std::uint64_t seed) { return schedule(seed, fault::none).play(); });
}

std::uint64_t caught(fault f) {
  return support::num_caught(
      ending::right, [f](std::uint64_t seed) { return schedule(seed, f).play(); }, 2'000);
}

TEST(RoutedLedgerTwin, ThatCountsForwardedMessagesAsHandledIsCaught) {
  EXPECT_GT(caught(fault::counts_forwarded_as_handled), 100u);
}
TEST(RoutedLedgerTwin, ThatCountsForwardedMessagesAsSentIsCaught) {
  EXPECT_GT(caught(fault::counts_forwarded_as_sent), 100u);
}
TEST(RoutedLedgerTwin, ThatDropsWhatItForwardsIsCaught) {
  EXPECT_GT(caught(fault::drops_what_it_forwards), 100u);
}
TEST(RoutedLedgerTwin, ThatHandsAllMessagesToTheHandlerIsCaught) {
  EXPECT_GT(caught(fault::hands_all_to_the_handler), 100u);
}
TEST(RoutedLedgerTwin, ThatForgetsMessagesMergedAtAHopIsCaught) {
  EXPECT_GT(caught(fault::forgets_merged_messages), 20u);
}
TEST(RoutedLedgerTwin, ThatJoinsCopiesIsCaught) { EXPECT_GT(caught(fault::joins_copies), 20u); }

}  // namespace
}  // namespace cairn::am::routed_ledger_test
