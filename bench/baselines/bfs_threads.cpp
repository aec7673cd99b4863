// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <thread>
#include <utility>
#include <vector>

#include <bench/baselines/bfs_threads.hpp>

namespace cairn::bench::baselines {
namespace {

constexpr std::uint32_t unreached = ~std::uint32_t{0};
constexpr std::size_t chunk = 64, buffered = 1024;

}  // namespace

struct bfs_threads::state {
  state(std::span<const std::uint64_t> given_offsets, std::span<const std::uint32_t> given_targets,
        int threads)
      : offsets(given_offsets),
        targets(given_targets),
        parent(offsets.size() - 1),
        order(offsets.size() - 1),
        parts(static_cast<std::size_t>(threads)),
        started(threads),
        cleared(threads, first_level{this}),
        level_done(threads, next_level{this}) {
    for (std::size_t t = 1; t < parts; ++t) {
      others.emplace_back([this, t] {
        for (;;) {
          started.arrive_and_wait();
          if (quitting) return;
          work(t);
        }
      });
    }
  }
  ~state() {
    quitting = true;
    started.arrive_and_wait();
  }

  struct first_level {
    state* s;
    void operator()() const noexcept {
      s->parent[s->root] = s->root;
      s->order[0] = s->root;
      s->reached.store(1, std::memory_order_relaxed);
      s->taken.store(0, std::memory_order_relaxed);
      s->level_begin = 0;
      s->level_end = 1;
    }
  };
  struct next_level {
    state* s;
    void operator()() const noexcept {
      s->level_begin = s->level_end;
      s->level_end = s->reached.load(std::memory_order_relaxed);
      s->taken.store(s->level_begin, std::memory_order_relaxed);
    }
  };

  // The part of a thread in a search.
  void work(std::size_t self) {
    const auto n = parent.size();
    const auto place = [&](std::size_t i) {
      return parent.begin() + static_cast<std::ptrdiff_t>(n * i / parts);
    };
    std::fill(place(self), place(self + 1), unreached);
    cleared.arrive_and_wait();
    while (level_begin < level_end) {
      expand_level();
      level_done.arrive_and_wait();
    }
  }

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

  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> targets;
  std::vector<std::uint32_t> parent, order;  // order: the reached vertices, level by level
  std::uint32_t root = 0;
  std::size_t level_begin = 0, level_end = 0;
  std::atomic<std::size_t> taken{0};  // vertices of the level taken by threads
  std::atomic<std::size_t> reached{0};
  bool quitting = false;
  std::size_t parts;  // threads
  std::barrier<> started;
  std::barrier<first_level> cleared;
  std::barrier<next_level> level_done;
  std::vector<std::jthread> others;
};

bfs_threads::bfs_threads(std::span<const std::uint64_t> offsets,
                         std::span<const std::uint32_t> targets, int threads)
    : state_(std::make_unique<state>(offsets, targets, threads)) {}
bfs_threads::~bfs_threads() = default;

std::span<const std::uint32_t> bfs_threads::search(std::uint32_t root) {
  state_->root = root;
  state_->started.arrive_and_wait();
  state_->work(0);
  return state_->parent;
}

}  // namespace cairn::bench::baselines
