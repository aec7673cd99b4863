// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::groups_test {
namespace {

using ids = std::vector<std::uint32_t>;

/// A list of elements, cut into groups of equal size; the last one may be smaller.
struct groups {
  ids elements;
  std::size_t size;

  [[nodiscard]] std::size_t count() const { return (elements.size() + size - 1) / size; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t g) const {
    return std::span(elements).subspan(g * size, std::min(size, elements.size() - g * size));
  }
};

/// One more for every element of a group.
struct raise {
  struct message {
    std::size_t group;
  };
  const groups& chosen;
  const pgas::vertex_map<std::uint32_t>& counters;

  void elements(const message& m, auto&& each) const {
    for (const auto id : chosen[m.group]) each(counters.at(id));
  }
  void attempt(auto& tx, const message& m) const {
    for (const auto id : chosen[m.group]) tx.write(counters, id, tx.read(counters, id) + 1);
  }
};

void spawn(worker_t k, executor<raise>& op, const groups& chosen, std::size_t begin,
           std::size_t end) {
  op.spawn(k, [&](auto& send) {
    for (auto g = begin; g < std::min(end, chosen.count()); ++g) send({g});
  });
}

class GroupPlaces : public testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GroupPlaces, testing::ValuesIn(support::all_places()),
                         support::place_name);

// Each element is in a block and in two random groups, or twice in one, spawned in one loop: the
// two kinds of group meet in most elements.
TEST_P(GroupPlaces, ThatOverlapLoseNothing) {
  const options settings[] = {
      {},
      {.mechanism = mechanism::locks},
      {.mechanism = mechanism::one_lock},
      {.mechanism = mechanism::stm, .grain = 2},
      {.mechanism = mechanism::htm, .emulate = emulation_options{.capacity = 20}}};
  GetParam().run([&](world& w) {
    for (const auto& s : settings) {
      pgas::vertex_map<std::uint32_t> counters(w, {1000, w.size()}, 0);
      ids own(counters.local().size());
      std::iota(own.begin(), own.end(), static_cast<std::uint32_t>(counters.first()));
      auto twice = own;
      twice.insert(twice.end(), own.begin(), own.end());
      random64 draws(3);
      for (auto left = twice.size(); left > 1; --left) {
        std::swap(twice[left - 1], twice[draws.below(left)]);
      }
      const groups blocks{own, 16}, random{twice, 24};
      domain data(w, s);
      executor<raise> some(data, raise{blocks, counters}), others(data, raise{random, counters});
      am::epoch epoch(w);
      w.parallel_for(
          std::max(blocks.count(), random.count()),
          [&](worker_t k, std::size_t begin, std::size_t end) {
            spawn(k, some, blocks, begin, end);
            spawn(k, others, random, begin, end);
          },
          2);
      epoch.close();
      EXPECT_EQ(std::count(counters.local().begin(), counters.local().end(), 3u),
                static_cast<std::ptrdiff_t>(own.size()))
          << name(s.mechanism);
    }
  });
}

}  // namespace
}  // namespace cairn::activity::groups_test
