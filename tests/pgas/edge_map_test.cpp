// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/pgas/edge_map.hpp>

#include <support/places.hpp>

namespace cairn::pgas::edge_map_test {
namespace {

// Row r of the whole has r % 4 entries, from an offset that is not 0; the ranks take two rows
// each, the last two ranks none.
constexpr std::uint64_t rows_of_a_rank = 2;
std::uint64_t length_of(std::uint64_t row) { return row % 4; }

std::vector<std::uint64_t> offsets_of(const world& w) {
  std::vector<std::uint64_t> offsets{100};
  const auto rank = static_cast<std::uint64_t>(w.rank());
  if (w.rank() + 2 >= w.size() && w.size() > 2) return offsets;
  for (auto r = rank * rows_of_a_rank; r < (rank + 1) * rows_of_a_rank; ++r) {
    offsets.push_back(offsets.back() + length_of(r));
  }
  return offsets;
}

template <class View>
concept names_places = requires(View&& v) {
  std::forward<View>(v).at(0);
};
using view = element_view<int, partition_view>;
static_assert(names_places<const view&> && !names_places<view>, "a place refers to its view");

class EdgeMap : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, EdgeMap, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(EdgeMap, EdgesAreNumberedThroughTheRanksRows) {
  GetParam().run([](world& w) {
    const auto offsets = offsets_of(w);
    const edge_map<std::uint64_t> map(w, offsets, 7);
    EXPECT_EQ(map.local().size(), offsets.back() - offsets.front());
    std::vector<std::uint64_t> mine;
    for (std::uint64_t row = 0; row + 1 < offsets.size(); ++row) {
      for (std::uint64_t i = 0; i < offsets[row + 1] - offsets[row]; ++i) {
        mine.push_back(map.id_of(row, i));
        EXPECT_EQ(map.load(mine.back()), 7u);
      }
    }
    const auto all = w.all_gather_values<std::uint64_t>(mine);
    EXPECT_EQ(all.size(), map.size());
    for (std::uint64_t id = 0; id < all.size(); ++id) EXPECT_EQ(all[id], id);
    const auto owners = w.all_gather_values<rank_t>(std::vector<rank_t>(mine.size(), w.rank()));
    for (std::uint64_t id = 0; id < owners.size(); ++id) {
      EXPECT_EQ(map.owner(id), owners[id]);
      EXPECT_EQ(map.owns(id), owners[id] == w.rank());
    }
  });
}

}  // namespace
}  // namespace cairn::pgas::edge_map_test
