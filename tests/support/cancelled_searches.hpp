// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/ref/bfs.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/pool.hpp>

#include <support/dist_graph.hpp>
#include <support/random_graphs.hpp>

namespace cairn::support {

/// Cancels the world when its workers have waited `cancel_at` times.
class cancel_by_count final : public task::progress_source {
 public:
  explicit cancel_by_count(world& w) : world_(w) { world_.pool().add_source(*this); }
  ~cancel_by_count() { world_.pool().remove_source(*this); }
  cancel_by_count(const cancel_by_count&) = delete;
  cancel_by_count& operator=(const cancel_by_count&) = delete;

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  void begin(std::uint64_t cancel_at) {
    count_ = 0;
    at_ = cancel_at;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  bool poll(worker_t) noexcept override {
    if (++count_ == at_) world_.cancel();
    return false;
  }

 private:
  world& world_;
  std::atomic<std::uint64_t> count_{0}, at_{never};
};

/// Cancels the world from another thread, after `turns` iterations of an empty loop.
class cancel_by_thread {
 public:
  cancel_by_thread(world& w, std::uint64_t turns)
      : thread_([&w, turns] {
          for (std::atomic<std::uint64_t> i = 0; i < turns;) ++i;
          w.cancel();
        }) {}
  ~cancel_by_thread() { thread_.join(); }

 private:
  std::thread thread_;
};

enum class cancelled_by { counts, threads_and_counts };

/// Searches a random graph repeatedly, and cancels each search at a random time on a random rank.
/// Either all ranks end the search by `cancelled`, or all get the right result. The next search in
/// the same world is right. Collective; all ranks pass the same arguments.
///
/// Returns   the fault, or ""
inline std::string cancel_searches(world& w, std::uint64_t seed, int moments, cancelled_by by) {
  random64 random(seed);
  const auto g = random_graph(random());
  const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
  const auto arcs = g.arcs();
  const auto root = random.below(g.n);
  cancel_by_count waits(w);
  const auto searched = [&](std::uint64_t cancel_at) {
    waits.begin(cancel_at);
    return algo::bfs(w, share, static_cast<std::uint32_t>(root), {}).parent;
  };
  const auto judge = [&](const auto& parent) {
    return algo::ref::bfs_violation(g.n, arcs, root, whole(w, parent));
  };
  int stopped = 0;
  for (int i = 0; i < moments; ++i) {
    // An undisturbed search, which also measures the number of waits.
    if (const auto wrong = judge(searched(cancel_by_count::never)); !wrong.empty()) {
      return "after " + std::to_string(i) + " moments: " + wrong;
    }
    const auto usual = waits.count();
    const auto canceller = static_cast<rank_t>(random.below(static_cast<std::uint64_t>(w.size())));
    const bool by_thread = by == cancelled_by::threads_and_counts && random.below(2) == 0;
    const auto draw = random();
    bool ended = false;
    {
      std::optional<cancel_by_thread> thread;
      if (by_thread && w.rank() == canceller) thread.emplace(w, draw % 20'000);
      try {
        const auto parent = searched(w.rank() == canceller && !by_thread ? 1 + draw % (usual + 1)
                                                                         : cancel_by_count::never);
        // A later request takes effect in these collectives, on all ranks.
        const auto wrong = judge(parent);
        ended = true;
        if (!wrong.empty()) return "a search that was not stopped: " + wrong;
      } catch (const cancelled&) {
        ++stopped;
      }
    }
    // The thread has called cancel() by now, perhaps after the end of the search.
    waits.begin(cancel_by_count::never);
    try {
      w.barrier();
    } catch (const cancelled&) {
    }
    for (const bool other : w.all_gather(ended)) {
      if (other != ended) return "some ranks have ended a search and others have not";
    }
  }
  return stopped == 0 ? "none was stopped" : "";
}

}  // namespace cairn::support
