// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <support/cancelled_searches.hpp>
#include <support/places.hpp>

namespace cairn::algo::cancel_test {
namespace {

using support::place;

class CancelledSearch : public ::testing::TestWithParam<place> {};

// 4 places, 5 graphs, 50 searches: 1,000 moments per network. tests/mpi has those of MPI.
std::vector<place> places_of_moments() {
  std::vector<place> all;
  for (const auto canceller :
       {place::network::rings, place::network::chaos, place::network::simulated}) {
    for (const auto& [ranks, workers] : {std::pair<rank_t, int>{2, 1}, {2, 2}, {3, 1}, {3, 2}}) {
      all.push_back({canceller, ranks, workers});
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Everywhere, CancelledSearch, ::testing::ValuesIn(places_of_moments()),
                         support::place_name);

TEST_P(CancelledSearch, EndsOnAllRanksOrOnNoneAndTheNextIsRight) {
  // A simulated cluster has no threads but its own.
  const auto canceller = GetParam().simulated() ? support::cancelled_by::counts
                                                : support::cancelled_by::threads_and_counts;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    GetParam().with_seed(seed).run(
        [&](world& w) { EXPECT_EQ(support::cancel_searches(w, seed, 50, canceller), ""); });
  }
}

}  // namespace
}  // namespace cairn::algo::cancel_test
