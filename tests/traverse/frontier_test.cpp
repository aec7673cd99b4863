// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/traverse/frontier.hpp>

#include <support/places.hpp>

namespace cairn::traverse::frontier_test {
namespace {

using id = std::uint32_t;
constexpr std::uint64_t n = 10'007;

class Frontier : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Frontier, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Own vertices that are v mod 3 == r, added by all workers.
void add_third(world& w, const pgas::partition& p, frontier<id>& f, std::uint64_t r) {
  const auto first = p.first(w.rank());
  w.parallel_for(
      p.size(w.rank()),
      [&](worker_t k, std::size_t begin, std::size_t end) {
        for (auto v = first + begin; v < first + end; ++v) {
          if (v % 3 == r) f.add(k, static_cast<id>(v));
        }
      },
      64);
}

std::vector<id> own_third(world& w, const pgas::partition& p, std::uint64_t r) {
  std::vector<id> expected;
  for (auto v = p.first(w.rank()); v < p.last(w.rank()); ++v) {
    if (v % 3 == r) expected.push_back(static_cast<id>(v));
  }
  return expected;
}

std::vector<id> sorted(std::span<const id> list) {
  std::vector<id> all(list.begin(), list.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST_P(Frontier, HoldsWhatWasAddedInEitherFormAndForgetsTheLastTurn) {
  GetParam().run([&](world& w) {
    const pgas::partition p(n, w.size());
    frontier<id> f(w, p);
    using form = frontier<id>::form;
    const form forms[] = {form::list, form::bits, form::shared_bits};
    for (std::uint64_t r = 0; r < 3; ++r) {
      f.keep_next_as(forms[r]);
      add_third(w, p, f, r);
      const auto expected = own_third(w, p, r);
      EXPECT_EQ(f.begin_superstep(), expected.size());
      EXPECT_EQ(f.is_list(), r == 0);
      EXPECT_EQ(sorted(f.list()), expected);
    }
    EXPECT_EQ(f.begin_superstep(), 0u);
    EXPECT_TRUE(f.list().empty());
  });
}

// Several workers set the bits of a list that is so long.
TEST(FrontierOfManyVertices, IsConvertedToBits) {
  constexpr std::uint64_t many = 400'000;
  world w(2);
  const pgas::partition p(many, 1);
  frontier<id> f(w, p);
  add_third(w, p, f, 1);
  EXPECT_EQ(f.begin_superstep(), many / 3);
  const auto* const bits = f.bits_of_all();
  for (std::uint64_t v = 0; v < many; ++v) ASSERT_EQ(bits[v / 64] >> (v % 64) & 1, v % 3 == 1);
}

TEST(FrontierOfManyVertices, IsConvertedToBitsUntilACancel) {
  constexpr std::uint64_t many = 400'000;
  world w;
  const pgas::partition p(many, 1);
  frontier<id> f(w, p);
  add_third(w, p, f, 1);
  static_cast<void>(f.begin_superstep());
  w.cancel();
  EXPECT_THROW(static_cast<void>(f.bits_of_all()), cancelled);
}

TEST_P(Frontier, IsExtendedByWhatWasAddedSince) {
  GetParam().run([&](world& w) {
    const pgas::partition p(n, w.size());
    frontier<id> f(w, p);
    add_third(w, p, f, 0);
    EXPECT_EQ(f.begin_superstep(), own_third(w, p, 0).size());
    auto expected = own_third(w, p, 1);
    add_third(w, p, f, 1);
    EXPECT_EQ(f.begin_superstep(), expected.size());
    static_cast<void>(f.bits_of_all());
    add_third(w, p, f, 2);
    const auto more = own_third(w, p, 2);
    expected.insert(expected.end(), more.begin(), more.end());
    EXPECT_EQ(f.extend(), expected.size());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(sorted(f.list()), expected);
    const auto* const bits = f.bits_of_all();  // not the earlier ones
    for (std::uint64_t v = 0; v < n; ++v) {
      ASSERT_EQ(bits[v / 64] >> (v % 64) & 1, v % 3 != 0 ? 1u : 0u) << v;
    }
  });
}

TEST_P(Frontier, GathersItsBitsWithSums) {
  GetParam().run([&](world& w) {
    const pgas::partition p(n, w.size());
    frontier<id> f(w, p);
    f.keep_next_as(frontier<id>::form::bits);
    add_third(w, p, f, 1);
    std::array<std::uint64_t, 2> words{f.begin_superstep(), 1};
    f.gather_and_sum(words);
    EXPECT_EQ(words,
              (std::array<std::uint64_t, 2>{(n + 1) / 3, static_cast<std::uint64_t>(w.size())}));
    const auto before = w.counters().total(obs::counter::collectives);
    const auto* const bits = f.bits_of_all();
    EXPECT_EQ(w.counters().total(obs::counter::collectives), before);
    for (std::uint64_t v = 0; v < n; ++v) {
      ASSERT_EQ(bits[v / 64] >> (v % 64) & 1, v % 3 == 1 ? 1u : 0u) << v;
    }
  });
}

TEST_P(Frontier, BitsAreThoseOfAllRanks) {
  GetParam().run([&](world& w) {
    const pgas::partition p(n, w.size());
    frontier<id> f(w, p);
    for (std::uint64_t r = 0; r < 2; ++r) {
      if (r == 1) f.keep_next_as(frontier<id>::form::bits);
      add_third(w, p, f, r);
      static_cast<void>(f.begin_superstep());
      const auto* const bits = f.bits_of_all();
      for (std::uint64_t v = 0; v < n; ++v) {
        ASSERT_EQ(bits[v / 64] >> (v % 64) & 1, v % 3 == r ? 1u : 0u) << v;
      }
    }
  });
}

}  // namespace
}  // namespace cairn::traverse::frontier_test
