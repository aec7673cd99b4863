// SPDX-License-Identifier: Apache-2.0
#include "algo/gathered_values.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/core/world.hpp>
#include <cairn/pgas/partition.hpp>

#include <support/places.hpp>

namespace cairn::algo::gathered_values_test {
namespace {

class GatheredValues : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, GatheredValues, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

std::uint32_t value_of(std::uint64_t v, std::uint32_t round) {
  return static_cast<std::uint32_t>(v) * 1'000 + round;
}

void gather_and_compare(world& w, const pgas::partition& vertices) {
  gathered_values<std::uint32_t> values(w, vertices);
  std::vector<std::uint32_t> own(vertices.size(w.rank())), all(vertices.n());
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = value_of(vertices.first(w.rank()) + i, round);
    if (round % 3 == 2) {
      std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(vertices.first(w.rank())));
      values.refresh(all);
    } else {
      values.gather(own);
    }
    // One rank after the other reads late, while others go on to the next gather.
    if (static_cast<rank_t>(round) % w.size() == w.rank()) {
      for (int i = 0; i < 100; ++i) w.pool().yield_core();
    }
    for (std::uint64_t v = 0; v < vertices.n(); ++v) {
      const bool copied = round % 3 == 2;
      ASSERT_EQ(copied ? all[v] : values.values()[v], value_of(v, round)) << v;
    }
  }
  w.barrier();
}

TEST_P(GatheredValues, AreThoseOfTheLastGather) {
  GetParam().run([](world& w) {
    for (const std::uint64_t n : {0, 1, 5, 2'000}) {
      gather_and_compare(w, pgas::partition(n, w.size()));
      gather_and_compare(w, pgas::partition(n, w.size()));  // perhaps in the same memory
    }
    std::vector<std::uint64_t> sizes;  // every other rank owns nothing
    for (rank_t r = 0; r < w.size(); ++r) sizes.push_back(r % 2 == 0 ? 70 : 0);
    gather_and_compare(w, pgas::partition::listed(sizes));
  });
}

}  // namespace
}  // namespace cairn::algo::gathered_values_test
