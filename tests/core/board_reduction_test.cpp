// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <core/operations_schedule.hpp>
#include <core/recursive_doubling_parts.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/board_reduction.hpp>

#include <support/schedules.hpp>

namespace cairn::board_reduction_test {
namespace {

using namespace recursive_doubling_parts;
using support::num_twin_schedules;
using ending = support::operations_ending;

/// Zeroed memory for the slots of some ranks.
class board_memory {
 public:
  explicit board_memory(rank_t ranks) : lines_(board_reduction::bytes_needed(ranks) / cache_line) {}
  [[nodiscard]] std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(lines_)); }

 private:
  struct alignas(cache_line) line {
    std::byte bytes[cache_line] = {};
  };
  std::vector<line> lines_;
};

/// What play_operations expects of a machine that sends packets.
struct no_packet {
  rank_t to;
  int packet;
};

/// The machine, which combines into text.
class board_rank {
 public:
  using outgoing = no_packet;
  board_rank(std::shared_ptr<board_memory> memory, rank_t self, rank_t size)
      : memory_(std::move(memory)), machine_(memory_->bytes(), self, size) {}
  void begin(const std::string& mine) { machine_.begin(to_bytes(mine)); }
  std::optional<outgoing> next_send() { return {}; }
  void receive(rank_t, int) {}
  bool done() { return machine_.complete(); }
  std::string take() {
    return machine_.fits() ? to_string(machine_.combine(in_brackets)) : "too long";
  }

 private:
  std::shared_ptr<board_memory> memory_;
  board_reduction machine_;
};

/// Plays one schedule of 1 to 40 ranks and 1 to 4 operations; make(memory, self, size).
template <class Machine>
ending play(std::uint64_t seed, auto make) {
  random64 random(seed);
  const auto size =
      static_cast<rank_t>(1 + std::min({random.below(40), random.below(40), random.below(80)}));
  const auto memory = std::make_shared<board_memory>(size);
  std::vector<std::vector<std::string>> values(1 + random.below(4));  // by operation and rank
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = random_values(random, size, static_cast<int>(i));
    const bool too_long = random.below(4) == 0;
    auto& some = values[i][random.below(values[i].size())];
    some.resize(board_reduction::max_value + (too_long ? 1 : 0), '.');
    expected.push_back(too_long ? "too long" : shape_of(values[i]));
  }
  return support::play_operations<Machine>(
      random, [&](rank_t self, rank_t of) { return make(memory, self, of); }, values, expected,
      [](Machine& m) { return m.take(); });
}

TEST(BoardReduction, EveryScheduleCombinesInTheShapeOfRecursiveDoubling) {
  support::expect_every_schedule(ending::correct, [](std::uint64_t seed) {
    return play<board_rank>(seed, [](const auto& memory, rank_t self, rank_t size) {
      return board_rank(memory, self, size);
    });
  });
}

enum class fault { none, has_one_slot, ignores_the_tag };

/// The same algorithm on ordinary values, without a bound, and perhaps with one fault.
class twin {
 public:
  using outgoing = no_packet;
  struct slot {
    int operation = 0;
    std::string value;
  };
  using board = std::vector<slot>;

  twin(std::shared_ptr<board> slots, rank_t self, rank_t size, fault f)
      : slots_(std::move(slots)), self_(self), size_(size), fault_(f) {}
  void begin(const std::string& mine) {
    ++operation_;
    at(self_) = {operation_, mine};
  }
  std::optional<outgoing> next_send() { return {}; }
  void receive(rank_t, int) {}
  bool done() {
    for (rank_t r = 0; r < size_; ++r) {
      if (fault_ == fault::ignores_the_tag ? at(r).operation == 0 : at(r).operation != operation_) {
        return false;
      }
    }
    return true;
  }
  std::string take() {
    std::vector<std::string> values;
    for (rank_t r = 0; r < size_; ++r) values.push_back(at(r).value);
    const bool too_long = std::ranges::any_of(
        values, [](const std::string& v) { return v.size() > board_reduction::max_value; });
    return too_long ? "too long" : shape_of(values);
  }

 private:
  slot& at(rank_t rank) {
    const auto copy = fault_ == fault::has_one_slot ? 0 : operation_ % 2;
    return (*slots_)[static_cast<std::size_t>(copy * size_ + rank)];
  }

  std::shared_ptr<board> slots_;
  rank_t self_, size_;
  fault fault_;
  int operation_ = 0;
};

std::uint64_t caught(fault f) {
  return support::num_caught(ending::correct, [&](std::uint64_t seed) {
    std::shared_ptr<twin::board> slots;
    return play<twin>(seed, [&](const auto&, rank_t self, rank_t size) {
      if (!slots) slots = std::make_shared<twin::board>(2 * static_cast<std::size_t>(size));
      return twin(slots, self, size, f);
    });
  });
}

TEST(BoardReductionTwin, WithoutAFaultPassesTheSameSchedules) {
  EXPECT_EQ(caught(fault::none), 0u);
}
TEST(BoardReductionTwin, WithOneSlotIsCaught) {
  EXPECT_GT(caught(fault::has_one_slot), num_twin_schedules / 100);
}
TEST(BoardReductionTwin, ThatIgnoresTheTagIsCaught) {
  EXPECT_GT(caught(fault::ignores_the_tag), num_twin_schedules / 100);
}

TEST(BoardReduction, ForgetsAnOperationAtARestart) {
  board_memory memory(2);
  board_reduction a(memory.bytes(), 0, 2), b(memory.bytes(), 1, 2);
  a.begin(to_bytes("lost"));
  EXPECT_FALSE(a.complete());
  EXPECT_EQ(a.awaited(), 1);
  a.restart(1);
  b.restart(1);
  b.begin(to_bytes("b"));
  EXPECT_FALSE(b.complete()) << "the value is of an earlier generation";
  EXPECT_EQ(b.awaited(), 0);
  a.begin(to_bytes("a"));
  EXPECT_TRUE(a.complete());
  EXPECT_TRUE(b.complete());
  EXPECT_EQ(to_string(a.combine(in_brackets)), "(ab)");
  EXPECT_EQ(to_string(b.combine(in_brackets)), "(ab)");
}

TEST(BoardReduction, UsesMemoryAgain) {
  board_memory memory(2);
  for (int use = 0; use < 3; ++use) {
    board_reduction a(memory.bytes(), 0, 2), b(memory.bytes(), 1, 2);
    for (int operation = 0; operation < 3; ++operation) {
      a.begin({});
      EXPECT_FALSE(a.complete());
      b.begin({});
      EXPECT_TRUE(b.complete() && a.complete());
    }
  }
}

TEST(BoardReduction, NeedsEnoughMemory) {
  board_memory memory(2);
  EXPECT_TRUE(board_reduction(memory.bytes(), 1, 2).is_usable());
  EXPECT_FALSE(board_reduction(memory.bytes(), 1, 3).is_usable());
  EXPECT_FALSE(board_reduction({}, 0, 1).is_usable());
  EXPECT_THROW(board_reduction(memory.bytes(), 2, 2), contract_violation);
}

TEST(BoardReduction, CombinesTheValuesOfThreads) {
  constexpr rank_t ranks = 5;
  constexpr std::uint64_t operations = 2'000;
  board_memory memory(ranks);
  std::vector<std::uint64_t> wrong(ranks);
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      board_reduction board(memory.bytes(), r, ranks);
      for (std::uint64_t i = 0; i < operations; ++i) {
        const std::vector<std::uint64_t> mine(1 + i % 30, i + static_cast<std::uint64_t>(r));
        board.begin(std::as_bytes(std::span(mine)));
        while (!board.complete()) std::this_thread::yield();
        const auto sum = board.combine(add_words);
        const std::vector<std::uint64_t> all(mine.size(), ranks * i + 10);
        const auto expected = std::as_bytes(std::span(all));
        wrong[static_cast<std::size_t>(r)] += !std::ranges::equal(sum, expected);
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<std::uint64_t>(ranks));
}

}  // namespace
}  // namespace cairn::board_reduction_test
