// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/emulated_section.hpp>

namespace cairn::tm::cell_test {
namespace {

enum class color : std::uint8_t { red, green, blue, none };

struct distance_and_parent {
  std::uint32_t distance, parent;
  friend bool operator<(distance_and_parent a, distance_and_parent b) {
    return a.distance < b.distance;
  }
  friend bool operator==(distance_and_parent, distance_and_parent) = default;
};

// Few different values, so that claims meet what they expect, and some at the borders.
template <class T>
T drawn(cairn::random64& random) {
  const auto k = random.below(6);
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T values[] = {0, 1, -1, 2.5, 1e30f, -7};
    return values[k];
  } else if constexpr (std::is_integral_v<T>) {
    const T values[] = {0,
                        1,
                        static_cast<T>(-1),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        static_cast<T>(5)};
    return values[k];
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(k % 4);
  } else if constexpr (std::is_pointer_v<T>) {
    static constexpr int target[6] = {};
    return &target[k];
  } else {
    return T{static_cast<std::uint32_t>(k / 2), static_cast<std::uint32_t>(k)};
  }
}

// What each verb promises, in other words than the code's.
template <class T>
T model_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
}

template <class T, class Access>
void play(Access access, std::uint64_t seed) {
  cairn::random64 random(seed);
  T held = drawn<T>(random);
  T cell = held;
  const tm::cell_ref<T, Access> ref(cell, access);
  for (int i = 0; i < 200; ++i) {
    const T x = drawn<T>(random), y = drawn<T>(random);
    const T before = held;
    switch (random.below(4)) {
      case 0:
        if (held == x) held = y;
        ASSERT_EQ(ref.claim(x, y), before);
        break;
      case 1:
        held = x;
        ASSERT_EQ(ref.exchange(x), before);
        break;
      case 2:
        if constexpr (requires { ref.lower(x); }) {
          if (x < held) held = x;
          ASSERT_EQ(ref.lower(x), before);
        }
        break;
      case 3:
        if constexpr (requires { ref.add(x); }) {
          held = model_sum(held, x);
          ASSERT_EQ(ref.add(x), before);
        }
        break;
    }
    ASSERT_EQ(ref.load(), held);
    if constexpr (!std::is_same_v<Access, tm::buffered_access>) {
      ASSERT_EQ(tm::load_cell(cell), held);
    }
  }
}

template <class T>
class CellOf : public ::testing::Test {};
using cell_types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                    std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float,
                                    double, bool, color, const int*, distance_and_parent>;
TYPED_TEST_SUITE(CellOf, cell_types);

TYPED_TEST(CellOf, EveryVerbDoesWhatTheModelSaysUnderEveryAccess) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    play<TypeParam>(tm::plain_access{}, seed);
    play<TypeParam>(tm::section_access{}, seed);
    play<TypeParam>(tm::atomic_access{}, seed);
    tm::write_buffer buffer(1);
    play<TypeParam>(tm::buffered_access(buffer), seed);
    if (this->HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Cell, OffersOnlyTheVerbsThatTheTypeHas) {
  const auto can_add = []<class T>(T*) {
    return requires(tm::cell_ref<T, tm::plain_access> r, T x) { r.add(x); };
  };
  EXPECT_TRUE(can_add(static_cast<double*>(nullptr)));
  EXPECT_FALSE(can_add(static_cast<bool*>(nullptr)));
  EXPECT_FALSE(can_add(static_cast<color*>(nullptr)));
  struct padded_pair {
    std::uint8_t a;
    std::uint32_t b;
  };
  EXPECT_FALSE(tm::cell_value<padded_pair>);
  EXPECT_FALSE(tm::cell_value<std::string>);
}

TEST(Cell, ClaimComparesBytes) {
  double cell = -0.0;
  EXPECT_EQ((tm::cell_ref<double, tm::atomic_access>(cell).claim(0.0, 1.0)), 0.0);
  EXPECT_EQ(cell, 0.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  cell = nan;
  static_cast<void>(tm::cell_ref<double, tm::plain_access>(cell).claim(nan, 1.0));
  EXPECT_EQ(cell, 1.0);
}

// One update by another worker between a verb's load and its write, always.
template <class Access>
struct interleaved : Access {
  std::uint32_t* cell;
  int* others;  // updates that others have still to make
  template <class T>
  T load(T& c) const {
    const T found = Access::load(c);
    if (*others > 0) {
      --*others;
      ++*cell;
    }
    return found;
  }
};

TEST(AtomicAccess, ClaimThatMeetsAnotherWriteFails) {
  std::uint32_t cell = 0;
  int others = 1;
  const interleaved<tm::atomic_access> access{{}, &cell, &others};
  const tm::cell_ref<std::uint32_t, interleaved<tm::atomic_access>> ref(cell, access);
  EXPECT_EQ(ref.claim(0, 10), 1u);
  EXPECT_EQ(cell, 1u);
}

TEST(AtomicAccess, LowerThatMeetsALowerWriteKeepsIt) {
  std::uint32_t cell = ~0u;  // the other's ++ makes it 0
  int others = 1;
  const interleaved<tm::atomic_access> access{{}, &cell, &others};
  const tm::cell_ref<std::uint32_t, interleaved<tm::atomic_access>> ref(cell, access);
  EXPECT_EQ(ref.lower(7), 0u);
  EXPECT_EQ(cell, 0u);
}

// The broken twins: what one writer may do, two may not.
TEST(PlainAccess, LosesAWriteThatItMeets) {
  std::uint32_t cell = 0;
  int others = 1;
  const interleaved<tm::plain_access> access{{}, &cell, &others};
  const tm::cell_ref<std::uint32_t, interleaved<tm::plain_access>> ref(cell, access);
  EXPECT_EQ(ref.claim(0, 10), 0u);
  EXPECT_EQ(cell, 10u) << "the other's write is lost, and nobody knows";
  cell = ~0u;
  others = 1;
  ref.lower(7);
  EXPECT_EQ(cell, 7u) << "the other's 0 is lost";
}

constexpr int threads = 4;
constexpr std::uint32_t rounds = 5'000;

template <class F>
void on_threads(F&& f) {
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back([&f, t] { f(t); });
  for (auto& r : running) r.join();
}

template <class T>
class AtomicCellOf : public ::testing::Test {};
using counting_types = ::testing::Types<std::uint8_t, std::int32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(AtomicCellOf, counting_types);

TYPED_TEST(AtomicCellOf, AddsOfAllThreadsAddUp) {
  TypeParam cell{};
  on_threads([&](int) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      tm::cell_ref<TypeParam, tm::atomic_access>(cell).add(TypeParam{1});
    }
  });
  EXPECT_EQ(cell, static_cast<TypeParam>(threads * rounds));
}

TYPED_TEST(AtomicCellOf, LowerKeepsTheLeastOfAllThreads) {
  TypeParam cell{120};
  on_threads([&](int t) {
    for (int i = 100; i > t; --i) {
      tm::cell_ref<TypeParam, tm::atomic_access>(cell).lower(static_cast<TypeParam>(i));
    }
  });
  EXPECT_EQ(cell, TypeParam{1});
}

TEST(AtomicAccess, EachCellIsClaimedByOneThread) {
  std::vector<std::uint32_t> cells(rounds, ~0u);
  std::vector<std::uint32_t> won(threads, 0);
  on_threads([&](int t) {
    for (auto& c : cells) {
      const auto me = static_cast<std::uint32_t>(t);
      if (tm::cell_ref<std::uint32_t, tm::atomic_access>(c).claim(~0u, me) == ~0u) ++won[t];
    }
  });
  std::vector<std::uint32_t> held(threads, 0);
  for (const auto c : cells) ++held.at(c);
  EXPECT_EQ(held, won);
}

TEST(AtomicAccess, ExchangeHandsEveryValueOutOnce) {
  std::uint32_t cell = 0;
  std::vector<std::vector<std::uint32_t>> found(threads);
  on_threads([&](int t) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const auto mine = 1 + static_cast<std::uint32_t>(t) * rounds + i;
      found[t].push_back(tm::cell_ref<std::uint32_t, tm::atomic_access>(cell).exchange(mine));
    }
  });
  std::vector<int> times(threads * rounds + 1, 0);
  ++times[cell];
  for (const auto& f : found) {
    for (const auto v : f) ++times[v];
  }
  EXPECT_EQ(times, std::vector<int>(threads * rounds + 1, 1));
}

}  // namespace
}  // namespace cairn::tm::cell_test
