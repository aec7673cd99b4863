// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include <cairn/algo/hash_map_access.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include "reversed.hpp"

namespace cairn::algo {
namespace {

constexpr std::uint64_t accesses_per_turn = 256;  // then the task yields to tasks and messages

// State that the tasks of a rank share.
struct shared {
  const string_pool& pool;
  string_map& map;
  const hash_map_access_options& opt;
  std::uint64_t last, all;  // the rank's last task, and accesses
  std::atomic<std::uint64_t> next, accesses{0}, found{0}, stored{0};

  [[nodiscard]] std::uint64_t take() noexcept {
    if (next.load(std::memory_order_relaxed) >= last) return last;
    return std::min(next.fetch_add(1, std::memory_order_relaxed), last);
  }
  void count(std::uint64_t n) {
    const auto done = accesses.fetch_add(n, std::memory_order_relaxed) + n;
    if (opt.progress) opt.progress(done, all);
  }
};

// Runs the steps of tasks, one task after the other, until none is left.
task::task<> access(shared* all) {
  const auto size = all->pool.size();
  std::uint64_t found = 0, stored = 0, counted = 0;
  for (auto t = all->take(); t < all->last; t = all->take()) {
    auto input = first_input(t, size, all->opt.tasks);
    for (std::uint64_t step = 0; step < all->opt.steps; ++step) {
      const auto string = all->pool[input];
      input = input + 1 == size ? 0 : input + 1;
      const auto value = co_await all->map.find(string);
      if (value) {
        ++found;
        stored += co_await all->map.insert(reversed(string), string_origin::reversed);
      }
      if (++counted == accesses_per_turn) {
        all->count(std::exchange(counted, 0));
        co_await task::pause();
      }
    }
  }
  all->count(counted);
  all->found += found;
  all->stored += stored;
}

task::task<> store(shared* all) {
  for (auto j = all->take(); j < all->last; j = all->take()) {
    const auto string = all->pool[stored_input(j, all->pool.size(), all->opt.entries)];
    static_cast<void>(co_await all->map.insert(string, string_origin::pool));
    if (j % accesses_per_turn == 0) co_await task::pause();
  }
}

// Runs the rank's share of tasks, at most `live` per worker concurrently.
template <class Make>
task::task<> run_share(world* w, shared* all, std::uint64_t live, Make make) {
  const auto share = all->last - all->next.load(std::memory_order_relaxed);
  std::vector<task::task<>> running;
  const auto workers = static_cast<std::uint64_t>(w->workers());
  for (auto n = live < share / workers ? live * workers : share; n > 0; --n) {
    running.push_back(make(all));
  }
  co_await task::when_all_spread(std::move(running));
}

void expect_options(const string_pool& pool, const hash_map_access_options& opt) {
  CAIRN_EXPECTS(opt.tasks >= 1, "there must be at least one task");
  CAIRN_EXPECTS(opt.max_live >= 1, "a worker must run at least one task at a time");
  CAIRN_EXPECTS(opt.entries >= 1 && opt.entries <= pool.size(),
                "the number of entries must be from 1 to the size of the pool");
}

}  // namespace

void populate(world& w, const string_pool& pool, string_map& map,
              const hash_map_access_options& opt) {
  expect_options(pool, opt);
  const pgas::partition_view shares(opt.entries, w.size());
  const auto first = shares.first(w.rank()), mine = shares.size(w.rank());
  shared all{pool, map, opt, first + mine, mine, first};
  w.run(run_share(&w, &all, 1024, store));
}

hash_map_access_totals access_hash_map(world& w, const string_pool& pool, string_map& map,
                                       const hash_map_access_options& opt) {
  expect_options(pool, opt);
  const pgas::partition_view shares(opt.tasks, w.size());
  const auto first = shares.first(w.rank()), mine = shares.size(w.rank());
  shared all{pool, map, opt, first + mine, mine * opt.steps, first};
  w.run(run_share(&w, &all, opt.max_live, access));
  return {w.sum(all.accesses.load()), w.sum(all.found.load()), w.sum(all.stored.load())};
}

std::uint64_t checksum_of(world& w, const string_map& map) {
  std::uint64_t mine = 0;
  map.each_own([&](const pool_string& key, string_origin value) {
    mine += mix64(pgas::byte_hash<pool_string>{}(key) + static_cast<std::uint64_t>(value));
  });
  return w.sum(mine);
}

}  // namespace cairn::algo
