// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/core/world.hpp>
#include <cairn/traverse/gathered_bits.hpp>

#include <support/places.hpp>

namespace cairn::traverse::gathered_bits_test {
namespace {

class GatheredBits : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GatheredBits, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

bool is_set(std::uint64_t round, std::uint64_t v) { return (mix64(mix64(round) + v) & 3) == 0; }

// Bits of this rank's vertices; those after the last one must not matter.
std::vector<std::uint64_t> own_bits(world& w, const pgas::partition& p, std::uint64_t round) {
  std::vector<std::uint64_t> own(p.size(w.rank()) / 64 + 2, ~std::uint64_t{0});
  for (std::uint64_t i = 0; i < p.size(w.rank()); ++i) {
    if (!is_set(round, p.first(w.rank()) + i)) own[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }
  return own;
}

void expect_bits(const gathered_bits& bits, std::uint64_t n, std::uint64_t round) {
  for (std::uint64_t v = 0; v < n; ++v) {
    ASSERT_EQ(bits.words()[v / 64] >> (v % 64) & 1, is_set(round, v) ? 1u : 0u)
        << "round " << round << ", bit " << v;
  }
}

// Sizes around a word, so that ranks write parts of the same words.
pgas::partition uneven(world& w, std::uint64_t seed) {
  const std::uint64_t sizes[] = {1, 63, 0, 64, 65, 2, random64(seed).below(1000), 128, 5, 0};
  std::vector<std::uint64_t> of_ranks;
  for (rank_t r = 0; r < w.size(); ++r) {
    of_ranks.push_back(sizes[(seed + static_cast<std::uint64_t>(r)) % std::size(sizes)]);
  }
  return pgas::partition::listed(of_ranks);
}

void gather_everywhere(world& w) {
  const auto ranks = static_cast<std::uint64_t>(w.size());
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const auto p = uneven(w, seed);
    gathered_bits bits(w, p);
    for (std::uint64_t round = seed; round < seed + 4; ++round) {
      std::vector<std::uint64_t> sums(round % 3, round + static_cast<std::uint64_t>(w.rank()));
      bits.gather(own_bits(w, p, round), sums);
      for (const auto sum : sums) EXPECT_EQ(sum, ranks * round + ranks * (ranks - 1) / 2);
      expect_bits(bits, p.n(), round);
    }
    w.barrier();
  }
}

TEST_P(GatheredBits, AreThoseOfAllRanks) { GetParam().run(gather_everywhere); }

TEST_P(GatheredBits, RefuseFewerThanARankHas) {
  GetParam().run([](world& w) {
    gathered_bits bits(w, pgas::partition(65 * static_cast<std::uint64_t>(w.size()), w.size()));
    EXPECT_THROW(bits.gather(std::vector<std::uint64_t>(1), {}), contract_violation);
  });
}

TEST(GatheredBitsOnMachines, AreTheSameOnOneMachineAndOnSeveral) {
  for (const int machines : {1, 2, 5}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      run_simulated({.ranks = 5, .workers = 1, .seed = seed, .machines = machines}, {},
                    gather_everywhere);
    }
  }
}

TEST(GatheredBitsOnMachines, AreSharedOnOne) {
  for (const int machines : {1, 2}) {
    run_simulated({.ranks = 4, .workers = 1, .machines = machines}, {}, [&](world& w) {
      const pgas::partition p(1'000'000, w.size());
      gathered_bits bits(w, p);
      EXPECT_EQ(bits.is_cheap(), machines == 1);
      const std::vector<std::uint64_t> own(p.max_block() / 64 + 1);
      bits.gather(own, {});
      w.barrier();
      const auto address = reinterpret_cast<std::uintptr_t>(bits.words());
      const auto all = w.all_gather(static_cast<std::uint64_t>(address));
      EXPECT_EQ(all == std::vector(all.size(), all.front()), machines == 1);
    });
  }
}

}  // namespace
}  // namespace cairn::traverse::gathered_bits_test
