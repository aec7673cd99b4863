// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/activity/selection.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity {
namespace {

using id_groups = groups<std::uint32_t>;
using ids = std::vector<std::uint32_t>;

ids from(std::uint32_t first, std::size_t n) {
  ids all(n);
  std::iota(all.begin(), all.end(), first);
  return all;
}

ids together(const id_groups& cut) {
  ids all;
  for (std::size_t g = 0; g < cut.size(); ++g) all.insert(all.end(), cut[g].begin(), cut[g].end());
  return all;
}

TEST(Selection, PutsEveryElementIntoOneGroup) {
  for (const auto how : {selection::contiguous, selection::random}) {
    for (const std::size_t n : {0, 1, 7, 8, 9, 100}) {
      for (const std::size_t size : {1, 2, 8, 200}) {
        const id_groups cut(from(5, n), size, how);
        auto all = together(cut);
        EXPECT_EQ(cut.size(), (n + size - 1) / size);
        for (std::size_t g = 0; g + 1 < cut.size(); ++g) EXPECT_EQ(cut[g].size(), size);
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, from(5, n));
      }
    }
  }
}

TEST(Selection, ContiguousGroupsAreBlocksWhateverTheOrderOfTheList) {
  auto list = from(0, 64);
  std::reverse(list.begin(), list.end());
  EXPECT_EQ(together(id_groups(list, 8, selection::contiguous)), from(0, 64));
}

TEST(Selection, RandomGroupsAreDeterminedByTheSeed) {
  const auto drawn = [](std::uint64_t seed) {
    return together(id_groups(from(0, 64), 8, selection::random, seed));
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_NE(drawn(1), from(0, 64));
}

TEST(Selection, RefusesGroupsOfNothing) {
  EXPECT_THROW(id_groups(from(0, 3), 0, selection::random), contract_violation);
}

/// One more for every element of a group.
struct raise {
  struct message {
    std::size_t group;
  };
  const id_groups& chosen;
  const pgas::vertex_map<std::uint32_t>& counters;

  void elements(const message& m, auto&& each) const {
    for (const auto id : chosen[m.group]) each(counters.at(id));
  }
  void attempt(auto& tx, const message& m) const {
    for (const auto id : chosen[m.group]) tx.write(counters, id, tx.read(counters, id) + 1);
  }
};

void spawn(worker_t k, executor<raise>& op, const id_groups& chosen, std::size_t begin,
           std::size_t end) {
  op.spawn(k, [&](auto& send) {
    for (auto g = begin; g < std::min(end, chosen.size()); ++g) send({g});
  });
}

class SelectionPlaces : public testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, SelectionPlaces, testing::ValuesIn(support::all_places()),
                         support::place_name);

// Each element is in a block and in a random group, spawned in one loop: the two kinds of group
// meet in most elements.
TEST_P(SelectionPlaces, GroupsThatOverlapLoseNothing) {
  const options ways[] = {{},
                          {.how = mechanism::locks},
                          {.how = mechanism::one_lock},
                          {.how = mechanism::stm, .grain = 2},
                          {.how = mechanism::htm, .emulate = emulation_options{.capacity = 20}}};
  GetParam().run([&](world& w) {
    for (const auto& way : ways) {
      pgas::vertex_map<std::uint32_t> counters(w, {1000, w.size()}, 0);
      const auto own = from(static_cast<std::uint32_t>(counters.first()), counters.local().size());
      auto twice = own;
      twice.insert(twice.end(), own.begin(), own.end());
      const id_groups blocks(own, 16, selection::contiguous);
      const id_groups random(twice, 24, selection::random, 3);  // an element twice, if it happens
      domain data(w, way);
      executor<raise> some(data, raise{blocks, counters}), others(data, raise{random, counters});
      am::epoch epoch(w);
      w.parallel_for(
          std::max(blocks.size(), random.size()),
          [&](worker_t k, std::size_t begin, std::size_t end) {
            spawn(k, some, blocks, begin, end);
            spawn(k, others, random, begin, end);
          },
          2);
      epoch.close();
      EXPECT_EQ(std::count(counters.local().begin(), counters.local().end(), 3u),
                static_cast<std::ptrdiff_t>(own.size()))
          << name(way.how);
    }
  });
}

TEST(SelectionLocks, ContiguousGroupsTakeFewAndRandomOnesMany) {
  world w(2);
  pgas::vertex_map<std::uint32_t> counters(w, {4096, 1}, 0);
  const auto locks_for = [&](selection how) {
    const id_groups chosen(from(0, 4096), 64, how);
    domain data(w, {.how = mechanism::locks});
    executor<raise> op(data, raise{chosen, counters});
    am::epoch epoch(w);
    w.parallel_for(chosen.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      spawn(k, op, chosen, begin, end);
    });
    epoch.close();
    return data.locks_taken();
  };
  const auto lines = 4096 * sizeof(std::uint32_t) / cache_line;
  EXPECT_LE(locks_for(selection::contiguous), lines);  // fewer only if lines share a stripe
  EXPECT_GT(locks_for(selection::random), 8 * lines);
}

}  // namespace
}  // namespace cairn::activity
