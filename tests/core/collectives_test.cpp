// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <core/operations_schedule.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/collectives.hpp>

#include <support/schedules.hpp>

namespace cairn::collectives_test {
namespace {

using support::num_twin_schedules;

using bytes = std::vector<std::byte>;

/// What the ranks contribute to an operation, by rank: some bytes or none, all different.
std::vector<bytes> random_parts(random64& random, rank_t size) {
  std::vector<bytes> parts(static_cast<std::size_t>(size));
  for (auto& part : parts) {
    part.resize(random.below(12));
    for (auto& b : part) b = static_cast<std::byte>(random());
  }
  return parts;
}

// All parts of a complete operation.
template <class Machine>
std::vector<bytes> parts_of(Machine& m) {
  std::vector<bytes> parts;
  for (const auto& part : m.take()) parts.emplace_back(part.begin(), part.end());
  return parts;
}

using ending = support::operations_ending;

/// Plays one schedule of 1 to 17 ranks (small numbers more often) and 1 to 3 operations.
template <class Machine>
ending play(std::uint64_t seed, auto make) {
  random64 random(seed);
  const auto size = static_cast<rank_t>(1 + std::min(random.below(17), random.below(17)));
  std::vector<std::vector<bytes>> parts(1 + random.below(3));  // by operation and rank
  for (auto& of_operation : parts) of_operation = random_parts(random, size);
  return support::play_operations<Machine>(random, make, parts, parts,
                                           [](Machine& m) { return parts_of(m); });
}

TEST(Collectives, EverySchedulePutsEveryPartEverywhere) {
  const auto make = [](rank_t self, rank_t size) { return collectives(self, size); };
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return play<collectives>(seed, make); });
}

enum class fault { none, ignores_operation, ignores_round, drops_early_packets };

/// The same algorithm by the textbook, without a check, and perhaps with one fault.
class twin {
 public:
  struct letter {
    int operation, round;
    std::vector<bytes> parts;
  };
  struct outgoing {
    rank_t to;
    letter packet;
  };

  twin(rank_t self, rank_t size, fault f) : self_(self), size_(size), fault_(f) {}

  void begin(const bytes& mine) {
    ++operation_;
    running_ = true;
    sent_ = received_ = 0;
    held_.assign(1, mine);
    absorb();
  }
  std::optional<outgoing> next_send() {
    if (!running_ || sent_ == rounds() || sent_ > received_) return {};
    const auto distance = rank_t{1} << sent_;
    const auto count = std::min<std::size_t>(held_.size(), std::min(distance, size_ - distance));
    return outgoing{(self_ - distance + size_) % size_,
                    {operation_, sent_++, {held_.begin(), held_.begin() + count}}};
  }
  void receive(rank_t, letter packet) {
    letters_.push_back(std::move(packet));
    absorb();
    if (fault_ == fault::drops_early_packets) letters_.clear();
  }
  bool done() const { return running_ && sent_ == rounds() && received_ == rounds(); }
  std::vector<bytes> take() {
    running_ = false;
    std::rotate(held_.begin(), held_.end() - std::min<std::ptrdiff_t>(self_, std::ssize(held_)),
                held_.end());
    return held_;
  }

 private:
  int rounds() const { return std::bit_width(static_cast<unsigned>(size_ - 1)); }
  void absorb() {
    while (running_ && received_ < rounds()) {
      const auto next = std::ranges::find_if(letters_, [this](const letter& l) {
        return (l.operation == operation_ || fault_ == fault::ignores_operation) &&
               (l.round == received_ || fault_ == fault::ignores_round);
      });
      if (next == letters_.end()) return;
      held_.insert(held_.end(), next->parts.begin(), next->parts.end());
      letters_.erase(next);
      ++received_;
    }
  }

  rank_t self_, size_;
  fault fault_;
  int operation_ = 0, sent_ = 0, received_ = 0;
  bool running_ = false;
  std::vector<bytes> held_;
  std::vector<letter> letters_;
};

std::uint64_t caught(fault f) {
  const auto make = [f](rank_t self, rank_t size) { return twin(self, size, f); };
  return support::num_caught(ending::correct,
                             [&](std::uint64_t seed) { return play<twin>(seed, make); });
}

TEST(CollectivesTwin, WithoutAFaultPassesTheSameSchedules) { EXPECT_EQ(caught(fault::none), 0u); }
TEST(CollectivesTwin, ThatIgnoresTheOperationIsCaught) {
  EXPECT_GT(caught(fault::ignores_operation), num_twin_schedules / 100);
}
TEST(CollectivesTwin, ThatIgnoresTheRoundIsCaught) {
  EXPECT_GT(caught(fault::ignores_round), num_twin_schedules / 100);
}
TEST(CollectivesTwin, ThatDropsEarlyPacketsIsCaught) {
  EXPECT_GT(caught(fault::drops_early_packets), num_twin_schedules / 100);
}

/// Runs one operation to its end in rank order; returns how many packets each rank sent.
std::vector<int> run_in_order(std::vector<collectives>& ranks, const std::vector<bytes>& parts) {
  std::vector<int> packets(ranks.size(), 0);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].begin(parts[r]);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      while (auto out = ranks[r].next_send()) {
        ++packets[r];
        moved = true;
        ranks[static_cast<std::size_t>(out->to)].receive(static_cast<rank_t>(r), out->packet);
      }
    }
  }
  return packets;
}

std::vector<collectives> make_ranks(rank_t size) {
  std::vector<collectives> ranks;
  for (rank_t r = 0; r < size; ++r) ranks.emplace_back(r, size);
  return ranks;
}

TEST(Collectives, TakeOneMessagePerRankAndDoublingOfRanks) {
  for (rank_t size = 1; size <= 70; ++size) {
    auto ranks = make_ranks(size);
    random64 random(static_cast<std::uint64_t>(size));
    const auto parts = random_parts(random, size);
    int rounds = 0;
    while ((1 << rounds) < size) ++rounds;
    ASSERT_EQ(run_in_order(ranks, parts), std::vector<int>(ranks.size(), rounds)) << size;
    for (auto& rank : ranks) {
      ASSERT_TRUE(rank.done());
      ASSERT_EQ(parts_of(rank), parts);
      ASSERT_FALSE(rank.done());
    }
  }
}

TEST(Collectives, CarryPartsOfMegabytesBesideEmptyOnes) {
  auto ranks = make_ranks(5);
  std::vector<bytes> parts(5);
  parts[1].assign(3 << 20, std::byte{7});
  parts[4].assign((1 << 20) + 3, std::byte{9});
  for (int operation = 0; operation < 2; ++operation) {
    run_in_order(ranks, parts);
    for (auto& rank : ranks) ASSERT_EQ(parts_of(rank), parts);
    std::ranges::reverse(parts);
  }
}

TEST(Collectives, RefuseDamagedPacketsAndGoOn) {
  auto ranks = make_ranks(3);
  const std::vector<bytes> parts{bytes(4, std::byte{1}), bytes(5, std::byte{2}), bytes()};
  for (std::size_t r = 0; r < 3; ++r) ranks[r].begin(parts[r]);
  const auto good = ranks[1].next_send();
  ASSERT_TRUE(good && good->to == 0);

  const auto refused = [&](rank_t from, const bytes& packet) {
    EXPECT_THROW(ranks[0].receive(from, packet), contract_violation);
  };
  for (std::size_t n = 0; n < good->packet.size(); ++n) {
    refused(1, bytes(good->packet.begin(), good->packet.begin() + static_cast<std::ptrdiff_t>(n)));
  }
  refused(2, good->packet);
  for (std::size_t byte = 0; byte < 24; ++byte) {  // operation, round, number and length of parts
    for (const auto flip : {std::byte{1}, std::byte{2}, std::byte{0x80}}) {
      auto packet = good->packet;
      packet[byte] ^= flip;
      refused(1, packet);
    }
  }
  auto longer = good->packet;
  longer.push_back(std::byte{});
  refused(1, longer);
  ranks[0].receive(1, good->packet);
  refused(1, good->packet);

  for (rank_t r : {0, 1, 2, 0, 1, 2}) {
    while (auto out = ranks[static_cast<std::size_t>(r)].next_send()) {
      ranks[static_cast<std::size_t>(out->to)].receive(r, out->packet);
    }
  }
  for (auto& rank : ranks) EXPECT_EQ(parts_of(rank), parts);
}

TEST(Collectives, RefuseCallsOutOfOrder) {
  EXPECT_THROW(collectives(2, 2), contract_violation);
  EXPECT_THROW(collectives(-1, 2), contract_violation);
  collectives rank(0, 2);
  EXPECT_THROW(static_cast<void>(parts_of(rank)), contract_violation);
  rank.begin({});
  EXPECT_THROW(rank.begin({}), contract_violation);
  EXPECT_THROW(static_cast<void>(parts_of(rank)), contract_violation);
}

}  // namespace
}  // namespace cairn::collectives_test
