// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/route.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::route_test {
namespace {

using support::num_twin_schedules;

// Sizes of clusters grow by a share of one in so many.
constexpr rank_t step = support::sanitized ? 2 : 20;

constexpr routing schemes[] = {routing::direct, routing::grid, routing::hypercube,
                               routing::machine};

// Machines of equal blocks, dealt round robin, or at random with uneven numbers of ranks.
enum class dealing { blocks, cyclic, random };
std::vector<int> machines_of(rank_t size, int machines, dealing order) {
  auto draws =
      random64(static_cast<std::uint64_t>(size)).stream(static_cast<std::uint64_t>(machines));
  std::vector<int> of;
  for (rank_t r = 0; r < size; ++r) {
    const auto block = static_cast<int>(std::int64_t{r} * machines / size);
    of.push_back(
        order == dealing::blocks ? block
        : order == dealing::cyclic
            ? r % machines
            : static_cast<int>(std::min(draws.below(static_cast<std::uint64_t>(machines)),
                                        draws.below(static_cast<std::uint64_t>(machines)))));
  }
  return of;
}

std::vector<route> all_routes(routing scheme, rank_t size, std::span<const int> machine_of = {}) {
  std::vector<route> all;
  for (rank_t r = 0; r < size; ++r) all.emplace_back(scheme, r, size, machine_of);
  return all;
}

/// The hops from one rank to another; empty if a hop names no rank or there are more than
/// `max_hops`.
std::vector<rank_t> path(auto next_hop, rank_t from, rank_t to, rank_t size, int max_hops) {
  std::vector<rank_t> hops;
  for (auto at = from; at != to; hops.push_back(at)) {
    if (static_cast<int>(hops.size()) == max_hops) return {};
    at = next_hop(at, to);
    if (at < 0 || at >= size) return {};
  }
  return hops;
}

int bound_of_hops(routing scheme, rank_t size) {
  if (scheme == routing::hypercube) return static_cast<int>(std::ceil(std::log2(size)));
  return scheme == routing::direct ? 1 : scheme == routing::grid ? 2 : 3;
}

void check_paths(const std::vector<route>& all, rank_t from, rank_t to) {
  const auto size = static_cast<rank_t>(all.size());
  const auto hop = [&](rank_t at, rank_t t) {
    return all[static_cast<std::size_t>(at)].next_hop(t);
  };
  if (from == to) {
    ASSERT_EQ(hop(from, to), to);
  } else {
    const auto scheme = all[0].scheme();
    ASSERT_FALSE(path(hop, from, to, size, bound_of_hops(scheme, size)).empty())
        << "from " << from << " to " << to << " of " << size << ", scheme " << int(scheme);
  }
}

void check_every_pair(const std::vector<route>& all) {
  const auto size = static_cast<rank_t>(all.size());
  ASSERT_EQ(all[0].max_hops(), bound_of_hops(all[0].scheme(), size));
  for (rank_t from = 0; from < size; ++from) {
    for (rank_t to = 0; to < size; ++to) check_paths(all, from, to);
  }
}

TEST(Route, ReachesEveryRankFromEveryRankWithinItsBound) {
  for (rank_t size = 1; size <= 200; ++size) {
    for (const auto scheme : {routing::direct, routing::grid, routing::hypercube}) {
      check_every_pair(all_routes(scheme, size));
    }
  }
}

TEST(Route, ReachesEveryRankThroughMachinesOfAnyShape) {
  for (rank_t size = 1; size <= 200; size += 1 + size / step) {
    for (int machines = 1; machines <= size; machines += 1 + machines / 3) {
      for (const auto order : {dealing::blocks, dealing::cyclic, dealing::random}) {
        check_every_pair(all_routes(routing::machine, size, machines_of(size, machines, order)));
      }
    }
  }
}

// Hops after which as many bits of the rank's number differ from the destination's as before.
int num_no_nearer(routing scheme, rank_t size) {
  std::vector<int> of;
  for (rank_t r = 0; r < size; ++r) of.push_back(r % 2);
  const auto differing = [](rank_t a, rank_t b) {
    return std::popcount(static_cast<std::uint32_t>(a ^ b));
  };
  int found = 0;
  for (const auto& from : all_routes(scheme, size, of)) {
    for (rank_t to = 0; to < size; ++to) {
      if (to == from.self()) continue;
      found += differing(from.next_hop(to), to) >= differing(from.self(), to);
    }
  }
  return found;
}

// So messages arrive where ranks take different schemes, as they do with automatic routing.
TEST(Route, ComesNearerWithEachHopOfAGridOrHypercube) {
  for (rank_t size = 1; size < 300; size += step) {
    for (const auto scheme : {routing::direct, routing::grid, routing::hypercube}) {
      ASSERT_EQ(num_no_nearer(scheme, size), 0) << size;
    }
  }
}

TEST(RouteTwin, ThatGoesByMachineMayNotMixWithOthers) {
  EXPECT_GT(num_no_nearer(routing::machine, 64), 0);
}

TEST(Route, HoldsItsBoundsAmongThousandsOfRanks) {
  for (const rank_t size : {1000, 1023, 1024, 1025, 1500, 2049, 4096, 5001}) {
    random64 draws(static_cast<std::uint64_t>(size));
    const auto any = [&] { return static_cast<rank_t>(draws.below(static_cast<unsigned>(size))); };
    for (const auto scheme : schemes) {
      const auto of = machines_of(size, size / 32, dealing::blocks);
      const auto all = all_routes(scheme, size, of);
      for (int i = 0; i < 10'000; ++i) check_paths(all, any(), any());
      for (int i = 0; i < 10; ++i) {
        const auto hops =
            static_cast<double>(all[static_cast<std::size_t>(any())].next_hops().size());
        const auto sqrt = std::sqrt(static_cast<double>(size));
        const double max_hops = scheme == routing::direct      ? size - 1
                                : scheme == routing::grid      ? 2.2 * sqrt
                                : scheme == routing::hypercube ? std::ceil(std::log2(size))
                                                               : 32 + std::ceil(size / 32 / 31.0);
        ASSERT_LE(hops, max_hops) << size << " ranks, scheme " << int(scheme);
      }
    }
  }
}

TEST(Route, HasAsFewNextHopsAsItSays) {
  for (rank_t size = 2; size <= 200; ++size) {
    for (rank_t self = 0; self < size; ++self) {
      ASSERT_EQ(route(routing::direct, self, size).next_hops().size(),
                static_cast<std::size_t>(size - 1));
      ASSERT_LE(route(routing::grid, self, size).next_hops().size(), 2.2 * std::sqrt(size));
      ASSERT_LE(route(routing::hypercube, self, size).next_hops().size(),
                std::ceil(std::log2(size)));
    }
  }
  EXPECT_EQ(route(routing::grid, 0, 4).next_hops(), (std::vector<rank_t>{1, 2}));
  EXPECT_EQ(route(routing::grid, 27, 64).next_hops().size(), 14u);
}

// One pair of ranks for each pair of machines, and one crossing for each message.
TEST(Route, ByMachineCrossesTheNetworkOnceThroughOnePairOfRanks) {
  for (const auto order : {dealing::blocks, dealing::cyclic, dealing::random}) {
    const rank_t size = 60;
    const auto of = machines_of(size, 7, order);
    const auto all = all_routes(routing::machine, size, of);
    const auto machine = [&](rank_t r) { return of[static_cast<std::size_t>(r)]; };
    std::map<std::pair<int, int>, std::pair<rank_t, rank_t>> crossing;  // by machines
    for (rank_t from = 0; from < size; ++from) {
      for (rank_t to = 0; to < size; ++to) {
        int crossings = 0;
        for (auto at = from; at != to;) {
          const auto next = all[static_cast<std::size_t>(at)].next_hop(to);
          if (machine(at) != machine(next)) {
            ++crossings;
            const auto& pair =
                crossing.try_emplace({machine(at), machine(next)}, at, next).first->second;
            ASSERT_EQ(pair, std::make_pair(at, next));
          }
          at = next;
        }
        ASSERT_EQ(crossings, machine(from) != machine(to));
      }
    }
  }
}

TEST(Route, RefusesWhatIsNoRankAndMachinesThatDoNotFit) {
  EXPECT_THROW(route(routing::grid, 3, 3), contract_violation);
  EXPECT_THROW(route(routing::grid, -1, 3), contract_violation);
  EXPECT_THROW(route(routing::machine, 0, 3), contract_violation);
  EXPECT_THROW(route(routing::machine, 0, 2, std::vector{0, 2}), contract_violation);
  EXPECT_THROW(route(routing::machine, 0, 2, std::vector{-1, 0}), contract_violation);
}

struct letter {
  rank_t from, to;
  int hops;
};

enum class fault { none, keeps_in_place, hop_may_not_exist, hop_stays };

// A hop as in route.hpp, or with one fault.
rank_t hop_of(const route& r, rank_t to, fault f) {
  const auto right = r.next_hop(to);
  if (f == fault::hop_may_not_exist && r.scheme() == routing::hypercube) {
    const auto bits = r.self() ^ to;
    return r.self() ^ (bits & -bits);
  }
  // A rank that always goes to its machine's rank for the other machine, though it is that rank.
  return f == fault::hop_stays && r.scheme() == routing::machine && right != to ? r.self() : right;
}

std::span<letter> arrive(const route& r, std::span<letter> received, auto forward, fault f) {
  if (f == fault::none)
    return keep_own(
        r.self(), received, [](const letter& m) { return m.to; },
        [&](rank_t to, const letter& m) { forward(r.next_hop(to), m); });
  std::size_t kept = 0;
  for (auto& m : received) {
    if (m.to != r.self()) {
      forward(hop_of(r, m.to, f), m);
    } else {
      if (f != fault::keeps_in_place) received[kept] = m;
      ++kept;
    }
  }
  return received.first(kept);
}

/// Plays one schedule of 1 to 16 ranks, each of which sends a message to each: the seed decides
/// the scheme, the machines, who sends next, which block leaves and which buffer arrives.
///
/// Returns   whether each message came to its rank exactly once, along a path of allowed length
bool play(std::uint64_t seed, fault f) {
  struct buffer {
    rank_t to;
    std::vector<letter> letters;
  };
  struct sender {
    std::vector<letter> unsent;
    std::vector<rank_t> filled;  // the next hops of blocks that are not empty
    std::vector<std::vector<letter>> blocks;
  };
  random64 draws(seed);
  const auto size = static_cast<rank_t>(1 + std::min(draws.below(16), draws.below(16)));
  const auto p = static_cast<std::size_t>(size);
  const auto machines = static_cast<int>(1 + draws.below(p));
  const auto all = all_routes(schemes[draws.below(4)], size,
                              machines_of(size, machines, static_cast<dealing>(draws.below(3))));
  const auto hold = draws.below(8);  // in so many of 8 turns nothing leaves
  std::vector<sender> ranks(p);
  std::vector<buffer> in_flight;
  std::vector<int> received(p * p, 0);
  auto to_come = p * p;
  for (rank_t from = 0; from < size; ++from) {
    auto& here = ranks[static_cast<std::size_t>(from)];
    here.blocks.resize(p);
    for (rank_t to = 0; to < size; ++to) here.unsent.push_back({from, to, 0});
  }
  bool wrong = false;
  const auto append = [&](rank_t at, rank_t hop, letter m) {
    if (hop < 0 || hop >= size || ++m.hops > all[0].max_hops() + (m.from == m.to)) {
      wrong = true;
      return;
    }
    auto& here = ranks[static_cast<std::size_t>(at)];
    auto& block = here.blocks[static_cast<std::size_t>(hop)];
    if (block.empty()) here.filled.push_back(hop);
    block.push_back(m);
  };
  const auto take_turn = [&](rank_t r) {
    auto& here = ranks[static_cast<std::size_t>(r)];
    if (!here.unsent.empty() && draws.below(2) == 0) {
      const auto m = support::draw(draws, here.unsent);
      append(r, hop_of(all[static_cast<std::size_t>(r)], m.to, f), m);
    } else if (!here.filled.empty() && draws.below(8) >= hold) {
      const auto to = support::draw(draws, here.filled);
      in_flight.push_back({to, std::exchange(here.blocks[static_cast<std::size_t>(to)], {})});
    } else {
      return !here.unsent.empty() || !here.filled.empty();
    }
    return true;
  };
  const auto receive = [&](buffer b) {
    const auto forward = [&](rank_t hop, const letter& m) { append(b.to, hop, m); };
    for (const auto& m : arrive(all[static_cast<std::size_t>(b.to)], b.letters, forward, f)) {
      if (m.to != b.to) wrong = true;
      ++received[static_cast<std::size_t>(m.from) * p + static_cast<std::size_t>(m.to)];
      --to_come;
    }
  };
  const auto ended = [&] { return wrong || to_come == 0; };
  return support::play_ranks(draws, size, in_flight, ended, take_turn, receive) && !wrong &&
         std::ranges::all_of(received, [](int n) { return n == 1; });
}

TEST(Route, EveryScheduleDeliversEveryMessageOnce) {
  support::expect_every_schedule(true, [](std::uint64_t seed) { return play(seed, fault::none); });
}

std::uint64_t caught(fault f) {
  return support::num_caught(true, [f](std::uint64_t seed) { return play(seed, f); });
}

TEST(RouteTwin, ThatKeepsMessagesWithoutMovingThemIsCaught) {
  EXPECT_GT(caught(fault::keeps_in_place), num_twin_schedules / 100);
}
TEST(RouteTwin, ThatHopsToRanksThatDoNotExistIsCaught) {
  EXPECT_GT(caught(fault::hop_may_not_exist), num_twin_schedules / 100);
}
TEST(RouteTwin, ThatDoesNotSeeThatItIsTheNextHopItselfIsCaught) {
  EXPECT_GT(caught(fault::hop_stays), num_twin_schedules / 100);
}

}  // namespace
}  // namespace cairn::am::route_test
