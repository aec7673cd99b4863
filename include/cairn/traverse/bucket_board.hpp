// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/base/types.hpp>
#include <cairn/core/machines.hpp>
#include <cairn/core/world.hpp>

namespace cairn::traverse {

/// The bucket of each worker of a machine, over all its ranks, for loops that follow an order
/// without barriers.
///
/// If workers share cores, one of them waits for a core while others go on with late buckets. The
/// distances that they find are too large, and so are those that follow. A worker that is ahead
/// yields its core instead. The one that is furthest behind never waits.
///
/// Shown buckets are hints: a worker may have moved since.
///
/// Memory    a cache line per worker of all ranks, on each machine
/// Thread-safety  worker k shows its own bucket; any worker asks; worker 0 clears
class bucket_board {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no bucket: no worker waits for it

  /// Empty if world_options::lead says that no worker waits. Collective.
  explicit bucket_board(world& w) {
    const auto& lead = w.options().lead;
    auto& machines = w.machines();
    const auto workers = machines.workers();
    const bool waits = lead ? *lead != world_options::any_lead : workers.share_cores;
    if (!waits || workers.max_per_rank * w.size() == 1) return;
    lead_ = lead.value_or(0);
    const auto per_rank = static_cast<std::size_t>(workers.max_per_rank);
    // As many bytes on all machines, which may have different numbers of ranks.
    lent_ = machines.lend(static_cast<std::size_t>(w.size()) * per_rank * sizeof(slot));
    all_ = lent_.values<slot>(machines.neighbors().size() * per_rank);
    if (!all_.empty()) mine_ = all_.subspan(machines.place() * per_rank, per_rank);
  }

  /// No worker of this rank is in a bucket. Called before they show theirs.
  void clear() noexcept {
    for (auto& of : mine_) shown(of).store(none, std::memory_order_relaxed);
  }
  /// Shows that worker k is in this bucket. Each worker shows `none` before its last epoch ends.
  void show(worker_t k, std::uint64_t bucket) noexcept {
    if (!all_.empty()) shown(mine_[k]).store(bucket, std::memory_order_relaxed);
  }

  /// Whether a worker in this bucket is too far ahead of another one.
  [[nodiscard]] bool is_ahead(std::uint64_t bucket) const noexcept {
    if (all_.empty() || bucket == none) return false;
    return std::ranges::any_of(all_, [&](slot& other) {
      const auto seen = shown(other).load(std::memory_order_relaxed);
      return seen < bucket && bucket - seen > lead_;
    });
  }

 private:
  using slot = padded<std::uint64_t>;
  static std::atomic_ref<std::uint64_t> shown(slot& of) noexcept {
    return std::atomic_ref<std::uint64_t>(of.value);
  }

  std::uint64_t lead_ = 0;
  machines::lent_memory lent_;
  std::span<slot> all_, mine_;
};

}  // namespace cairn::traverse
