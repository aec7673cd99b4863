// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <unordered_set>
#include <vector>

#include <cairn/algo/hash_map_access.hpp>
#include <cairn/base/random.hpp>

#include "reversed.hpp"

namespace cairn::algo {
namespace {

/// A fingerprint of a set of entries: their number and two sums of hashes.
struct contents {
  std::uint64_t entries = 0, sum = 0, other_sum = 0;

  void add(const pool_string& key, string_origin value) {
    const auto hash =
        2 * std::hash<std::string_view>{}(key.view()) + static_cast<std::uint64_t>(value);
    ++entries;
    sum += mix64(hash);
    other_sum += mix64(hash ^ 0x5bd1e995u);
  }
  friend bool operator==(const contents&, const contents&) = default;
};

struct string_hash {
  std::size_t operator()(const pool_string& s) const noexcept {
    return std::hash<std::string_view>{}(s.view());
  }
};
using string_set = std::unordered_set<pool_string, string_hash>;

/// The result of a serial run. The run ends early if the world is cancelled.
class replay {
 public:
  string_set given, added;
  std::uint64_t found_at_least = 0, found_at_most = 0;

  replay(world& w, const string_pool& pool, const hash_map_access_options& opt) : w_(w) {
    for (std::uint64_t j = 0; j < opt.entries && may_continue(j); ++j) {
      given.insert(pool[stored_input(j, pool.size(), opt.entries)]);
    }
    each_input(pool, opt, [&](const pool_string& s) {
      if (!given.contains(s)) return;
      ++found_at_least;
      if (const auto r = reversed(s); !given.contains(r)) added.insert(r);
    });
    found_at_most = found_at_least;
    if (added.empty()) return;
    each_input(pool, opt, [&](const pool_string& s) { found_at_most += added.contains(s); });
  }

 private:
  [[nodiscard]] bool may_continue(std::uint64_t i) { return i % 4096 != 0 || w_.progress(); }
  template <class F>
  void each_input(const string_pool& pool, const hash_map_access_options& opt, F&& f) {
    std::uint64_t made = 0;
    for (std::uint64_t t = 0; t < opt.tasks; ++t) {
      auto input = first_input(t, pool.size(), opt.tasks);
      for (std::uint64_t step = 0; step < opt.steps; ++step) {
        if (!may_continue(made++)) return;
        f(pool[input]);
        input = input + 1 == pool.size() ? 0 : input + 1;
      }
    }
  }

  world& w_;
};

std::string difference(const contents& is, const contents& expected_contents, std::size_t rank) {
  const auto of_rank = "rank " + std::to_string(rank) + " has ";
  if (is.entries != expected_contents.entries) {
    return of_rank + std::to_string(is.entries) + " entries, expected " +
           std::to_string(expected_contents.entries);
  }
  return of_rank + "the expected number of entries, but other entries";
}

// The first difference as one sentence, or "".
std::string compared(const replay& expected, const string_map& map,
                     const std::vector<contents>& found, const hash_map_access_totals& totals) {
  std::vector<contents> expected_contents(found.size());
  const auto expect = [&](const string_set& strings, string_origin value) {
    for (const auto& s : strings)
      expected_contents[static_cast<std::size_t>(map.owner(s))].add(s, value);
  };
  expect(expected.given, string_origin::pool);
  expect(expected.added, string_origin::reversed);
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (found[r] != expected_contents[r]) return difference(found[r], expected_contents[r], r);
  }
  if (totals.stored != expected.added.size()) {
    return std::to_string(totals.stored) + " reversed strings were stored, expected " +
           std::to_string(expected.added.size());
  }
  if (totals.found < expected.found_at_least || totals.found > expected.found_at_most) {
    return std::to_string(totals.found) + " inputs were found, expected " +
           std::to_string(expected.found_at_least) + " to " +
           std::to_string(expected.found_at_most);
  }
  return "";
}

}  // namespace

std::optional<std::string> verify_hash_map_access(world& w, const string_pool& pool,
                                                  const string_map& map,
                                                  const hash_map_access_options& opt,
                                                  const hash_map_access_totals& totals) {
  contents mine;
  map.each_own([&](const pool_string& key, string_origin value) { mine.add(key, value); });
  const auto found = w.all_gather(mine);
  std::string wrong;
  if (totals.accesses != opt.tasks * opt.steps) {
    wrong = std::to_string(totals.accesses) + " accesses were made, expected " +
            std::to_string(opt.tasks * opt.steps);
  } else if (w.rank() == 0) {
    wrong = compared(replay(w, pool, opt), map, found, totals);
  }
  const auto all = w.all_gather(wrong);
  return all.front().empty() ? std::nullopt : std::optional(all.front());
}

}  // namespace cairn::algo
