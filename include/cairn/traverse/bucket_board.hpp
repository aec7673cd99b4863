// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/net/segment.hpp>

namespace cairn::traverse {

/// The buckets in which the workers of a machine are, those of all its ranks, for loops that follow
/// an order without barriers.
///
/// If workers share cores, one of them waits for a core while others go on with late buckets. The
/// distances that they find are too large, and so are those that follow. A worker that is ahead
/// yields its core instead. The one that is furthest behind never waits.
///
/// Shown buckets are hints: a worker may have moved since.
///
/// Memory    a cache line per worker of the machine
/// Thread-safety  worker k shows its own bucket; any worker asks
class bucket_board {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no bucket, which nobody waits for

  /// Empty if world_options::lead says that no worker waits. Collective.
  explicit bucket_board(world& w) {
    const auto& lead = w.options().lead;
    const auto crew = w.machines().workers();
    const bool waits = lead ? *lead != world_options::any_lead : crew.shares_cores;
    if (!waits || crew.most * w.size() == 1) return;
    lead_ = lead.value_or(0);
    const auto most = static_cast<std::size_t>(crew.most);
    // As many bytes on all machines, which may have different numbers of ranks.
    lent_ = w.machines().lend(static_cast<std::size_t>(w.size()) * most * sizeof(padded_bucket));
    if (!*lent_) return;
    const auto here = w.machines().neighbors();
    all_ = {reinterpret_cast<padded_bucket*>((*lent_)->data()), here.size() * most};
    const auto place = static_cast<std::size_t>(std::ranges::find(here, w.rank()) - here.begin());
    mine_ = all_.subspan(place * most, most);
    for (worker_t k{0}; k < crew.most; ++k) show(k, none);
  }

  /// Shows that worker k is in this bucket.
  void show(worker_t k, std::uint64_t bucket) noexcept {
    if (!all_.empty()) shown(mine_[k]).store(bucket, std::memory_order_relaxed);
  }

  /// Whether a worker in this bucket is too far ahead of another one.
  [[nodiscard]] bool is_ahead(std::uint64_t bucket) const noexcept {
    if (all_.empty() || bucket == none) return false;
    return std::ranges::any_of(all_, [&](padded_bucket& other) {
      const auto seen = shown(other).load(std::memory_order_relaxed);
      return seen < bucket && bucket - seen > lead_;
    });
  }

  /// Shows no bucket of worker k from its end on.
  class turn {
   public:
    turn(bucket_board& board, worker_t k) noexcept : board_(board), worker_(k) {}
    ~turn() { board_.show(worker_, none); }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    bucket_board& board_;
    worker_t worker_;
  };

 private:
  struct alignas(cache_line) padded_bucket {
    std::uint64_t bucket;
  };
  static std::atomic_ref<std::uint64_t> shown(padded_bucket& of) noexcept {
    return std::atomic_ref<std::uint64_t>(of.bucket);
  }

  std::uint64_t lead_ = 0;
  std::shared_ptr<const machines::loan> lent_;
  std::span<padded_bucket> all_, mine_;
};

}  // namespace cairn::traverse
