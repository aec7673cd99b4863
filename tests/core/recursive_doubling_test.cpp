// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <core/recursive_doubling_parts.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/recursive_doubling.hpp>

namespace cairn::recursive_doubling_test {
namespace {

using namespace recursive_doubling_parts;

/// Carries packets in rank order until none is left; returns how many each rank sent.
template <class Machine>
std::vector<int> carry_all(std::vector<Machine>& ranks) {
  std::vector<int> packets(ranks.size(), 0);
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

template <class Machine = recursive_doubling>
std::vector<Machine> make_ranks(rank_t size) {
  std::vector<Machine> ranks;
  for (rank_t r = 0; r < size; ++r) ranks.emplace_back(r, size);
  return ranks;
}

TEST(RecursiveDoubling, SendsOneMessagePerRoundAndOneForEachRankBeyondThePowerOfTwo) {
  for (rank_t size = 1; size <= 300; ++size) {
    auto ranks = make_ranks<subject>(size);
    random64 random(static_cast<std::uint64_t>(size));
    const auto values = random_values(random, size, 0);
    for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].begin(values[r]);
    rank_t core = 1, rounds = 0;
    while (2 * core <= size) core *= 2, ++rounds;
    std::vector<int> expected(ranks.size(), rounds);
    for (rank_t r = core; r < size; ++r) {
      expected[static_cast<std::size_t>(r)] = 1;
      ++expected[static_cast<std::size_t>(r - core)];
    }
    ASSERT_EQ(carry_all(ranks), expected) << size;
    for (auto& rank : ranks) {
      ASSERT_TRUE(rank.done());
      ASSERT_EQ(rank.take(), shape_of(values));
      ASSERT_FALSE(rank.done());
    }
  }
}

TEST(RecursiveDoubling, TakesAnotherFunctionInEachOperation) {
  auto ranks = make_ranks(6);
  for (std::uint64_t operation = 0; operation < 10; ++operation) {
    const bool adds = operation % 2 == 0;
    for (std::size_t r = 0; r < 6; ++r) {
      const std::uint64_t x = r + operation;
      ranks[r].begin(std::as_bytes(std::span(&x, 1)), adds ? add_words : in_brackets);
    }
    carry_all(ranks);
    for (auto& rank : ranks) {
      const auto result = rank.take();
      ASSERT_EQ(result.size(), adds ? 8u : 6 * 8u + 5 * 2u);
      const auto first = std::to_integer<unsigned>(result[0]);
      ASSERT_EQ(first, adds ? 15 + 6 * operation : unsigned{'('});
    }
  }
}

TEST(RecursiveDoubling, CarriesMegabytesBesideNothing) {
  auto ranks = make_ranks(5);
  std::vector<std::string> values(5);
  values[1].assign(3 << 20, 'x');
  values[4].assign((1 << 20) + 3, 'y');
  for (int operation = 0; operation < 2; ++operation) {
    for (std::size_t r = 0; r < 5; ++r) ranks[r].begin(to_bytes(values[r]), in_brackets);
    carry_all(ranks);
    for (auto& rank : ranks) ASSERT_EQ(to_string(rank.take()), shape_of(values));
    std::ranges::reverse(values);
  }
}

TEST(RecursiveDoubling, RefusesDamagedPacketsAndGoesOn) {
  auto ranks = make_ranks<subject>(5);  // rank 0 hears from 4, 1 and 2
  const std::vector<std::string> values{"zero", "one", "two", "three", "four"};
  for (std::size_t r = 0; r < 5; ++r) ranks[r].begin(values[r]);
  const auto refused = [&](std::size_t at, rank_t from, const bytes& packet) {
    EXPECT_THROW(ranks[at].receive(from, packet), contract_violation);
  };
  const auto refuses_all_but = [&](rank_t from, const bytes& good) {
    for (std::size_t n = 0; n < good.size(); ++n) {
      refused(0, from, bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)));
    }
    for (rank_t other = 0; other < 5; ++other) {
      if (other != from) refused(0, other, good);
    }
    for (std::size_t bit = 0; bit < 128; ++bit) {  // operation, step and length
      auto packet = good;
      packet[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
      refused(0, from, packet);
    }
    auto longer = good;
    longer.push_back(std::byte{});
    refused(0, from, longer);
    ranks[0].receive(from, good);
    refused(0, from, good);
  };
  const auto exchanged = ranks[1].next_send();
  ASSERT_TRUE(exchanged && exchanged->to == 0);
  refuses_all_but(1, exchanged->packet);  // is kept: the fold comes first
  const auto folded = ranks[4].next_send();
  ASSERT_TRUE(folded && folded->to == 0);
  refuses_all_but(4, folded->packet);

  carry_all(ranks);
  for (auto& rank : ranks) EXPECT_EQ(rank.take(), shape_of(values));
  refused(0, 1, exchanged->packet);
  refused(0, 4, folded->packet);
}

// Of the next operation only what its sender can have sent, knowing what this rank has sent.
TEST(RecursiveDoubling, RefusesPacketsOfAnOperationThatCannotHaveBegun) {
  const auto first_packet_of_operation = [](rank_t self, rank_t size, int operation) {
    auto ranks = make_ranks<subject>(size);
    for (int i = 1;; ++i) {
      for (auto& rank : ranks) rank.begin("value");
      if (i == operation) return ranks[static_cast<std::size_t>(self)].next_send()->packet;
      carry_all(ranks);
    }
  };
  const auto second = first_packet_of_operation(1, 2, 2),
             third = first_packet_of_operation(1, 2, 3);
  const auto fold_of_second = first_packet_of_operation(2, 3, 2);
  {
    subject idle(0, 2);
    EXPECT_THROW(idle.receive(1, second), contract_violation);
    idle.begin("value");
    EXPECT_THROW(idle.receive(1, second), contract_violation);  // rank 1 lacks this rank's value
    ASSERT_TRUE(idle.next_send());
    EXPECT_THROW(idle.receive(1, third), contract_violation);
    idle.receive(1, second);
    EXPECT_THROW(idle.receive(1, second), contract_violation);
  }
  {
    auto ranks = make_ranks<subject>(3);
    for (auto& rank : ranks) rank.begin("value");
    ranks[0].receive(2, ranks[2].next_send()->packet);
    ranks[0].receive(1, ranks[1].next_send()->packet);
    ASSERT_EQ(ranks[0].next_send()->to, 1);
    EXPECT_THROW(ranks[0].receive(2, fold_of_second), contract_violation);
    const auto message = ranks[0].next_send();
    ASSERT_EQ(message->to, 2);
    ranks[0].receive(2, fold_of_second);
    ranks[2].receive(0, message->packet);
    EXPECT_EQ(ranks[2].take(), "((valuevalue)value)");
    EXPECT_THROW(ranks[2].receive(0, message->packet), contract_violation);
  }
}

void refuse(view, view, bytes& result) {
  result.push_back(std::byte{});
  throw std::runtime_error("no such value");
}

TEST(RecursiveDoubling, LeavesTheStateAsItWasIfCombiningThrows) {
  auto ranks = make_ranks(2);
  ranks[0].begin(to_bytes("a"), refuse);
  ranks[1].begin(to_bytes("b"), in_brackets);
  static_cast<void>(ranks[0].next_send());
  const auto out = ranks[1].next_send();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(ranks[0].receive(1, out->packet), std::runtime_error);
    EXPECT_FALSE(ranks[0].done());
  }
}

TEST(RecursiveDoubling, RefusesCallsOutOfOrder) {
  EXPECT_THROW(recursive_doubling(2, 2), contract_violation);
  EXPECT_THROW(recursive_doubling(-1, 2), contract_violation);
  recursive_doubling rank(0, 2);
  EXPECT_THROW(static_cast<void>(rank.take()), contract_violation);
  rank.begin({}, in_brackets);
  EXPECT_THROW(rank.begin({}, in_brackets), contract_violation);
  EXPECT_THROW(static_cast<void>(rank.take()), contract_violation);
}

}  // namespace
}  // namespace cairn::recursive_doubling_test
