// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/combine_table.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::reduce_test {
namespace {

constexpr std::uint64_t keys = 100;
constexpr std::size_t table_sizes[] = {1, 2, 3, 7, 64, 99, 100, 1 << 20};

struct update {
  std::uint64_t key = 0;
  std::uint32_t value = 0;
};

// Half of the updates go to three keys.
update random_update(random64& random) {
  return {random.below(random.below(2) == 0 ? 3 : keys),
          static_cast<std::uint32_t>(random.below(60))};
}

// Drop -------------------------------------------------------------------------------------------

constexpr std::uint32_t nothing = 1000;

// A cell that is lowered, as distances are.
struct lowered {
  static std::uint64_t key(const update& m) { return m.key; }
  static std::uint64_t keys() { return reduce_test::keys; }
  static std::uint32_t initial() { return nothing; }
  static bool offer(std::uint32_t& cell, const update& m) {
    return m.value < std::exchange(cell, std::min(cell, m.value));
  }
};
// A cell that takes the first value, as parents are.
struct claimed : lowered {
  static bool offer(std::uint32_t& cell, const update& m) {
    return cell == nothing && (cell = m.value, true);
  }
};

// Plays a stream through a table. The owner's cell takes what passes, in any order up to now; what
// is dropped must not have changed it.
template <class Policy>
std::uint64_t drop_and_judge(std::size_t entries, std::uint64_t seed) {
  mirror_table<std::uint32_t> table(entries);
  random64 random(seed);
  std::uint64_t passed = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::map<std::uint64_t, std::uint32_t> owner;
    for (int i = 0; i < 2000; ++i) {
      const auto m = random_update(random);
      auto& cell = owner.try_emplace(m.key, nothing).first->second;
      auto if_sent = cell;
      const bool takes_effect = Policy::offer(if_sent, m);
      if (table.offer(Policy{}, m) == offered::passed) {
        cell = if_sent;
        ++passed;
        // With a mirror for each key nothing passes in vain.
        EXPECT_TRUE(takes_effect || entries < keys);
      } else {
        EXPECT_FALSE(takes_effect) << entries << " entries, seed " << seed;
      }
    }
    table.forget();
  }
  return passed;
}

TEST(MirrorTable, NeverDropsWhatCouldTakeEffect) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const auto entries : table_sizes) {
      EXPECT_LT(drop_and_judge<lowered>(entries, seed), 6000u) << entries;
      EXPECT_LT(drop_and_judge<claimed>(entries, seed), 6000u) << entries;
    }
  }
  EXPECT_FALSE(mirror_table<std::uint32_t>(0).enabled());
  EXPECT_TRUE(mirror_table<std::uint32_t>(1).enabled());
}

// Of `threads` that offer random updates to the same mirrors, what is left of them: for each key
// the smallest value that was offered, and that passed.
struct smallest {
  std::vector<std::uint32_t> offered = std::vector(keys, nothing), passed = offered;
};
smallest offer_by_threads(std::uint64_t seed) {
  constexpr std::size_t threads = 4;
  std::vector<std::uint32_t> cells(keys, nothing);
  std::vector<smallest> of(threads);
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      shared_mirrors<std::uint32_t> mirrors(cells);
      auto random = random64(seed).stream(t);
      const auto lower = [](std::uint32_t& x, std::uint32_t to) { x = std::min(x, to); };
      for (int i = 0; i < 20'000; ++i) {
        auto m = random_update(random);
        m.value += static_cast<std::uint32_t>(20'000 - i) / 40;
        lower(of[t].offered[m.key], m.value);
        if (mirrors.offer(lowered(), m) == offered::passed) lower(of[t].passed[m.key], m.value);
      }
    });
  }
  for (auto& t : running) t.join();
  smallest all;
  for (std::uint64_t k = 0; k < keys; ++k) {
    for (const auto& one : of) {
      all.offered[k] = std::min(all.offered[k], one.offered[k]);
      all.passed[k] = std::min(all.passed[k], one.passed[k]);
    }
    EXPECT_GE(cells[k], all.offered[k]);
  }
  return all;
}

TEST(SharedMirrors, NeverDropWhatCouldTakeEffect) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto all = offer_by_threads(seed);
    EXPECT_EQ(all.passed, all.offered) << seed;
  }
}

TEST(SharedMirrors, PassTheFirstToEachKeyOnceIfAllAreEqual) {
  std::vector<std::uint32_t> cells(keys, nothing);
  shared_mirrors<std::uint32_t> one(cells), other(cells);
  EXPECT_TRUE(one.enabled());
  EXPECT_FALSE(shared_mirrors<std::uint32_t>().enabled());
  for (std::uint64_t k = 0; k < keys; ++k) {
    EXPECT_EQ(one.offer(lowered(), update{k, 5}), offered::passed);
    EXPECT_EQ(other.offer(lowered(), update{k, 5}), offered::merged);
    EXPECT_EQ(other.offer(lowered(), update{k, 4}), offered::passed);
    EXPECT_EQ(one.offer(lowered(), update{k, 4}), offered::merged);
  }
}

TEST(MirrorTable, ForgetsFewMirrorsAndAll) {
  for (const auto entries : table_sizes) {
    mirror_table<std::uint32_t> table(entries);
    for (const std::uint64_t used : {std::uint64_t{3}, keys, std::uint64_t{3}}) {
      for (int round = 0; round < 2; ++round) {
        std::uint64_t passed = 0;
        for (std::uint64_t key = 0; key < used; ++key) {
          passed += table.offer(lowered{}, update{key, 5}) == offered::passed;
        }
        if (round == 0) {
          EXPECT_EQ(passed, used) << entries;
        }
        if (round == 1 && entries >= keys) {
          EXPECT_EQ(passed, 0u) << entries;
        }
      }
      table.forget();
    }
  }
}

// Pages that the process has mapped.
std::uint64_t mapped_pages() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

struct wide : lowered {
  static std::uint64_t keys() { return std::uint64_t{1} << 40; }
};

TEST(MirrorTable, IsAsNewAfterAFailedAllocation) {
  mirror_table<std::uint32_t> table(std::size_t{1} << 20);
  const update m{wide::keys() - 1, 5};
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  auto limit = before;  // there is room for the mirrors, but not for their ids
  limit.rlim_cur = mapped_pages() * static_cast<rlim_t>(getpagesize()) + (6 << 20);
  setrlimit(RLIMIT_AS, &limit);
  EXPECT_THROW(static_cast<void>(table.offer(wide(), m)), system_failure);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(table.offer(wide(), m), offered::passed);
  EXPECT_EQ(table.offer(wide(), m), offered::merged);
}

// Combine ----------------------------------------------------------------------------------------

struct summed {
  static std::uint64_t key(const update& m) { return m.key; }
  static void combine(update& kept, update&& m) { kept.value += m.value; }
};

std::map<std::uint64_t, std::uint64_t> totals_of(const std::vector<update>& all) {
  std::map<std::uint64_t, std::uint64_t> totals;
  for (const auto& m : all) totals[m.key] += m.value;
  return totals;
}

TEST(CombineTable, KeepsTheTotalOfEachKeyAndGivesEachKeptMessageOutOnce) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::size_t entries : {0, 1, 2, 3, 7, 64, 99, 100, 1 << 20}) {
      random64 random(seed);
      combine_table<update> table({.entries = entries, .keys = keys});
      std::vector<update> in, out;
      const auto take_out = [&](update&& m) { out.push_back(m); };
      std::size_t kept = 0;  // entered and not yet out
      for (int round = 0; round < 3; ++round) {
        for (auto left = random.below(1000); left > 0; --left) {
          const auto m = random_update(random);
          in.push_back(m);
          const auto before = out.size();
          const auto outcome = table.offer(summed{}, m, take_out);
          kept += outcome == offered::kept;
          const auto came_out = out.size() - before;
          if (outcome == offered::passed) {  // by a table that has just been emptied, perhaps
            ASSERT_GE(came_out, 1u);
            kept -= came_out - 1;
          } else {
            ASSERT_EQ(came_out, outcome == offered::evicted);
          }
          ASSERT_EQ(table.size(), kept);
          // Messages pass by a table that merges too few of them, unless all keys fit.
          ASSERT_TRUE(outcome == offered::passed ? entries < keys : entries != 0);
          ASSERT_FALSE(outcome == offered::evicted && entries >= keys);
        }
        const auto before = out.size();
        std::set<std::uint64_t> drained;
        table.drain([&](update&& m) {
          EXPECT_TRUE(drained.insert(m.key).second);
          take_out(std::move(m));
        });
        ASSERT_EQ(out.size() - before, kept);
        ASSERT_EQ(totals_of(in), totals_of(out)) << entries << " entries, seed " << seed;
        table.drain([](update&&) { FAIL() << "came out twice"; });
        kept = 0;
      }
      EXPECT_EQ(out.size() < in.size(), entries != 0);
    }
  }
}

TEST(CombineTable, IsDrainedInParts) {
  combine_table<update> table({.entries = 1 << 20, .keys = 1000});
  EXPECT_EQ(table.parts(), 0u);
  for (std::uint64_t key = 0; key < 1000; key += 3) {
    table.offer(summed{}, {key, 1}, [](update&&) { FAIL(); });
  }
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < table.parts(); ++i) {
    table.drain_part(i, [&](update&& m) { out.push_back(m.key); });
  }
  ASSERT_EQ(out.size(), 334u);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 3 * i);
  EXPECT_EQ(table.size(), 0u);
}

TEST(CombineTable, HoldsWhatIsNotTriviallyCopyable) {
  struct named {
    std::uint64_t key = 0;
    std::map<std::string, std::uint64_t> counts;
  };
  struct policy {
    static std::uint64_t key(const named& m) { return m.key; }
    static void combine(named& kept, named&& m) {
      merge_histograms<std::string>::combine_into(kept.counts, m.counts);
    }
  };
  for (const std::size_t entries : {0, 1, 4, 100}) {
    combine_table<named> table({.entries = entries, .keys = keys});
    std::map<std::uint64_t, std::map<std::string, std::uint64_t>> expected, found;
    const auto take_out = [&](named&& m) {
      merge_histograms<std::string>::combine_into(found[m.key], m.counts);
    };
    random64 random(entries);
    for (int i = 0; i < 1000; ++i) {
      const auto [key, value] = random_update(random);
      const auto word = "a word longer than what fits in a string object " + std::to_string(value);
      ++expected[key][word];
      table.offer(policy{}, {key, {{word, 1}}}, take_out);
    }
    table.drain(take_out);
    EXPECT_EQ(found, expected) << entries;
  }
}

// The ledger -------------------------------------------------------------------------------------

enum class fault { none, counts_merged_at_the_sender, forgets_merged_at_the_hop, counts_drained };

// A sender's table, a hop's, and the owner, by the counts that `offered` tells. Returns whether the
// counts agreed whenever nothing was under way, and disagreed whenever something was.
bool counts_tell_the_truth(std::uint64_t seed, fault f) {
  random64 random(seed);
  const auto entries = [&] { return static_cast<std::size_t>(random.below(8)); };
  combine_table<update> sender({.entries = entries(), .keys = 6}),
      hop({.entries = entries(), .keys = 6});
  std::vector<update> to_hop, to_owner;
  std::uint64_t sent = 0, handled = 0;
  const auto leave_sender = [&](update&& m) { to_hop.push_back(m); };
  const auto leave_hop = [&](update&& m) { to_owner.push_back(m); };
  for (int turn = 0; turn < 60; ++turn) {
    switch (random.below(6)) {
      case 0:
      case 1:
        if (sender.offer(summed{}, {random.below(6), 1}, leave_sender) != offered::merged ||
            f == fault::counts_merged_at_the_sender) {
          ++sent;
        }
        break;
      case 2:
        if (f == fault::counts_drained) sent += sender.size();
        sender.drain(leave_sender);
        break;
      case 3:
        for (const auto& m : std::exchange(to_hop, {})) {
          const auto outcome = hop.offer(summed{}, m, leave_hop);
          if (outcome == offered::merged && f != fault::forgets_merged_at_the_hop) ++handled;
        }
        break;
      case 4:
        hop.drain(leave_hop);
        break;
      default:
        handled += std::exchange(to_owner, {}).size();
    }
    const bool under_way = sender.size() + hop.size() + to_hop.size() + to_owner.size() != 0;
    if (under_way == (sent == handled)) return false;
  }
  return true;
}

TEST(Reduce, CountsTellWhetherAMessageIsUnderWayInEverySchedule) {
  support::expect_every_schedule(
      true, [](std::uint64_t seed) { return counts_tell_the_truth(seed, fault::none); });
}

std::uint64_t caught(fault f) {
  return support::num_caught(
      true, [f](std::uint64_t seed) { return counts_tell_the_truth(seed, f); }, 10'000);
}

TEST(ReduceTwin, ThatCountsMergedMessagesAtTheSenderIsCaught) {
  EXPECT_GT(caught(fault::counts_merged_at_the_sender), 100u);
}
TEST(ReduceTwin, ThatForgetsMessagesMergedAtAHopIsCaught) {
  EXPECT_GT(caught(fault::forgets_merged_at_the_hop), 100u);
}
TEST(ReduceTwin, ThatCountsDrainedMessagesAgainIsCaught) {
  EXPECT_GT(caught(fault::counts_drained), 100u);
}

}  // namespace
}  // namespace cairn::am::reduce_test
