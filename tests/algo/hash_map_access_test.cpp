// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/hash_map_access.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/task.hpp>

#include <support/places.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::algo::hash_map_access_test {
namespace {

using cairn::task::task;

class HashMapAccess : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, HashMapAccess, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

hash_map_access_options some(const support::place& at) {
  return {.tasks = 37, .steps = at.ranks > 3 ? 11u : 101u, .entries = 100, .progress = {}};
}

// What does not depend on the place.
struct outcome {
  std::uint64_t stored = 0, entries = 0, checksum = 0;
  std::string wrong;
  friend bool operator==(const outcome&, const outcome&) = default;
};
outcome of_run(world& w, const string_pool& pool, const hash_map_access_options& opt) {
  string_map map(w, {.entries = opt.entries});
  populate(w, pool, map, opt);
  const auto totals = access_hash_map(w, pool, map, opt);
  EXPECT_EQ(totals.accesses, opt.tasks * opt.steps);
  EXPECT_GE(totals.found, totals.stored);
  return {totals.stored, map.size(), checksum_of(w, map),
          verify_hash_map_access(w, pool, map, opt, totals).value_or("")};
}

TEST_P(HashMapAccess, LeavesWhatASerialRunLeaves) {
  const auto opt = some(GetParam());
  const string_pool pool(string_pool::generated{.size = 1000, .seed = 7});
  outcome alone;
  {
    world one;
    alone = of_run(one, pool, opt);
  }
  EXPECT_GT(alone.stored, 10u);
  EXPECT_EQ(alone.entries, alone.stored + opt.entries);
  EXPECT_EQ(alone.wrong, "");
  GetParam().run([&](world& w) { EXPECT_EQ(of_run(w, pool, opt), alone); });
}

// Many inputs are palindromes, the reverse of other inputs, or occur often.
TEST_P(HashMapAccess, LeavesTheSameIfStringsAreReversesOfOthers) {
  std::vector<pool_string> words;
  random64 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (auto k = random.below(5); k > 0; --k) word += random.below(2) == 0 ? 'a' : 'b';
    words.emplace_back(word);
  }
  const string_pool pool(std::move(words));
  auto opt = some(GetParam());
  opt.entries = 20;
  GetParam().run([&](world& w) { EXPECT_EQ(of_run(w, pool, opt).wrong, ""); });
}

TEST(HashMapAccessOptions, OutOfTheirRangesAreRefused) {
  world w;
  string_map map(w);
  const string_pool pool(string_pool::generated{.size = 10, .seed = 1});
  EXPECT_THROW(populate(w, pool, map, {.entries = 11}), contract_violation);
  EXPECT_THROW(populate(w, pool, map, {.entries = 0}), contract_violation);
  EXPECT_THROW(std::ignore = access_hash_map(w, pool, map, {.tasks = 0, .entries = 1}),
               contract_violation);
}

task<> erase(string_map* map, pool_string s) { static_cast<void>(co_await map->erase(s)); }
task<> change(string_map* map, pool_string s) {
  const auto before = co_await map->find(s);
  static_cast<void>(co_await map->update(
      s, before == string_origin::pool ? string_origin::reversed : string_origin::pool));
}
task<> insert(string_map* map, pool_string s) {
  static_cast<void>(co_await map->insert(s, string_origin::reversed));
}

TEST(VerifyHashMapAccess, FindsWhatIsWrong) {
  world w(2);
  const string_pool pool(string_pool::generated{.size = 1000, .seed = 7});
  const hash_map_access_options opt{.tasks = 10, .steps = 100, .entries = 50, .progress = {}};
  string_map map(w);
  populate(w, pool, map, opt);
  const auto totals = access_hash_map(w, pool, map, opt);
  const auto verdict = [&](const hash_map_access_totals& t) {
    return verify_hash_map_access(w, pool, map, opt, t).value_or("");
  };
  EXPECT_EQ(verdict(totals), "");
  EXPECT_EQ(verdict({1000, totals.found, totals.stored + 1}),
            "51 reversed strings were stored, expected 50");
  EXPECT_EQ(verdict({1000, 49, 50}), "49 inputs were found, expected 50 to 50");
  EXPECT_EQ(verdict({1000, 51, 50}), "51 inputs were found, expected 50 to 50");
  EXPECT_EQ(verdict({999, 50, 50}), "999 accesses were made, expected 1000");
  const auto wrong = "rank 0 has the expected number of entries, but other entries";
  w.run(change(&map, pool[0]));
  EXPECT_EQ(verdict(totals), wrong);
  w.run(change(&map, pool[0]));
  EXPECT_EQ(verdict(totals), "");
  w.run(insert(&map, pool_string("none of the pool")));
  EXPECT_EQ(verdict(totals), "rank 0 has 101 entries, expected 100");
  w.run(erase(&map, pool[0]));
  EXPECT_EQ(verdict(totals), wrong);
}

TEST(HashMapAccessProgress, EndsWithAllAccesses) {
  world w(2);
  const string_pool pool(string_pool::generated{.size = 1000, .seed = 7});
  std::atomic<std::uint64_t> max_done = 0, calls = 0;
  hash_map_access_options opt{.tasks = 10, .steps = 1000, .entries = 50, .progress = {}};
  string_map map(w);
  populate(w, pool, map, opt);
  opt.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_LE(done, all);
    EXPECT_EQ(all, 10'000u);
    ++calls;
    for (auto seen = max_done.load(); seen < done && !max_done.compare_exchange_weak(seen, done);) {
    }
  };
  EXPECT_EQ(access_hash_map(w, pool, map, opt).accesses, 10'000u);
  EXPECT_EQ(max_done, 10'000u);
  EXPECT_GT(calls, 10u);
}

TEST(StringPool, GeneratedStringsDependOnSeedAndNumber) {
  const string_pool pool(string_pool::generated{.size = 10'000, .seed = 3}),
      other(string_pool::generated{.size = 10'000, .seed = 4});
  std::set<std::string> strings;
  std::set<std::size_t> lengths;
  std::uint64_t alike = 0;
  for (std::uint64_t i = 0; i < pool.size(); ++i) {
    strings.emplace(pool[i].view());
    lengths.insert(pool[i].view().size());
    alike += pool[i] == other[i];
  }
  EXPECT_GT(strings.size(), 9'990u);
  EXPECT_EQ(lengths.size(), 16u);
  EXPECT_EQ(*lengths.begin(), 5u);
  EXPECT_EQ(*lengths.rbegin(), 20u);
  EXPECT_EQ(alike, 0u);
}

class WordsOfAFile : public ::testing::Test {
 protected:
  pool_words read(const std::string& text, int workers = 2) {
    const auto path = folder_ / "text.txt";
    std::ofstream(path, std::ios::binary) << text;
    world w(workers);
    return read_words(w, path);
  }
  support::temporary_folder folder_;
};

TEST_F(WordsOfAFile, KeepTheirOrderAndAreCutAt20Bytes) {
  const auto found = read("one two\r\n\n\ttwo 12345678901234567890 123456789012345678901\nend");
  std::vector<std::string> words;
  for (const auto& s : found.words) words.emplace_back(s.view());
  EXPECT_EQ(words, (std::vector<std::string>{"one", "two", "two", "12345678901234567890",
                                             "12345678901234567890", "end"}));
  EXPECT_EQ(found.cut, 1u);
}

TEST_F(WordsOfAFile, OfManyBlocksKeepTheirOrder) {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i) + (i % 7 == 0 ? "\n" : " ");
  const auto found = read(text);
  ASSERT_EQ(found.words.size(), 500'000u);
  for (int i = 0; i < 500'000; ++i) {
    ASSERT_EQ(found.words[static_cast<std::size_t>(i)].view(), std::to_string(i));
  }
}

TEST_F(WordsOfAFile, AreRefusedInOneSentence) {
  const auto fault = [&](const std::string& text) -> std::string {
    try {
      static_cast<void>(read(text));
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(fault("a\nb\nc\x01 d\n").find(":3: expected text, found the control character '\\x01'"),
            std::string::npos);
  EXPECT_NE(fault(std::string("a\n\0b\n", 5)).find(":2: expected text"), std::string::npos);
  EXPECT_NE(fault(" \n\t\n").find("contains no word"), std::string::npos);
  EXPECT_NE(fault(""), "");
}

}  // namespace
}  // namespace cairn::algo::hash_map_access_test
