// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <thread>
#include <utility>

#include <bench/baselines/bfs_threads.hpp>

namespace cairn::bench::baselines {
namespace {

constexpr std::uint32_t unreached = ~std::uint32_t{0};
constexpr std::size_t chunk = 64, buffered = 1024;

struct search {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> targets;
  std::vector<std::uint32_t> parent, order;  // order: the reached vertices, level by level
  std::size_t level_begin = 0, level_end = 0;
  std::atomic<std::size_t> taken{0};  // vertices of the level taken by threads
  std::atomic<std::size_t> reached{0};

  void put(const std::array<std::uint32_t, buffered>& found, std::size_t n) {
    const auto at = reached.fetch_add(n, std::memory_order_relaxed);
    std::copy_n(found.begin(), n, order.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void expand_level() {
    std::array<std::uint32_t, buffered> found;
    std::size_t n = 0;
    for (;;) {
      const auto begin = taken.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= level_end) break;
      for (auto i = begin; i < std::min(begin + chunk, level_end); ++i) {
        const auto u = order[i];
        for (auto e = offsets[u]; e < offsets[u + 1]; ++e) {
          const auto v = targets[e];
          std::atomic_ref<std::uint32_t> of_v(parent[v]);
          auto expected = unreached;
          if (of_v.load(std::memory_order_relaxed) != unreached ||
              !of_v.compare_exchange_strong(expected, u, std::memory_order_relaxed)) {
            continue;
          }
          found[n++] = v;
          if (n == buffered) put(found, std::exchange(n, 0));
        }
      }
    }
    put(found, n);
  }
};

}  // namespace

std::vector<std::uint32_t> bfs_threads(std::span<const std::uint64_t> offsets,
                                       std::span<const std::uint32_t> targets, std::uint32_t root,
                                       int threads) {
  search s;
  s.offsets = offsets;
  s.targets = targets;
  s.parent.assign(offsets.size() - 1, unreached);
  s.order.resize(offsets.size() - 1);
  s.parent[root] = root;
  s.order[0] = root;
  s.reached = 1;
  s.level_end = 1;
  std::barrier level_done(threads, [&s]() noexcept {
    s.level_begin = s.level_end;
    s.level_end = s.reached.load(std::memory_order_relaxed);
    s.taken.store(s.level_begin, std::memory_order_relaxed);
  });
  const auto work = [&] {
    while (s.level_begin < s.level_end) {
      s.expand_level();
      level_done.arrive_and_wait();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work);
    work();
  }
  return std::move(s.parent);
}

}  // namespace cairn::bench::baselines
