// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/net/segment.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

class world;

/// Memory shared by ranks that are threads, or fibers, of one process.
///
/// Thread-safety: any.
class shared_heap {
 public:
  /// Segment `number` of a machine. The first call creates it; later calls return the same segment
  /// while any rank holds it.
  [[nodiscard]] std::shared_ptr<net::segment> piece(int machine, std::uint64_t number,
                                                    std::size_t bytes);

 private:
  task::spin_lock guard_;
  std::map<std::pair<int, std::uint64_t>, std::weak_ptr<net::segment>> pieces_;
};

/// Which ranks share a machine, as the launcher of the ranks reports it.
struct machine_layout {
  /// By rank; machines are numbered from 0 in the order of their lowest ranks. Empty: each rank has
  /// its own machine.
  std::vector<int> machine_of = {};
  /// The same object for all ranks if they are threads of one process; null: they are processes.
  std::shared_ptr<shared_heap> heap = {};

  /// Places rank r on machine r mod `machines`.
  [[nodiscard]] static machine_layout dealt(std::same_as<rank_t> auto ranks,
                                            std::same_as<int> auto machines) {
    machine_layout layout;
    for (rank_t r = 0; r < ranks; ++r) layout.machine_of.push_back(r % machines);
    return layout;
  }
};

/// The machines of a world, and memory shared by the ranks of each: world.machines().
class machines {
 public:
  machines(world& w, const machine_layout& layout);

  [[nodiscard]] int count() const noexcept { return count_; }
  /// The machine of a rank, from 0 to count() - 1.
  [[nodiscard]] int of(rank_t rank) const { return machine_of_.at(static_cast<std::size_t>(rank)); }
  /// The ranks on this rank's machine, itself included, ascending.
  [[nodiscard]] std::span<const rank_t> neighbors() const noexcept { return neighbors_; }
  /// The position of this rank among them.
  [[nodiscard]] std::size_t place() const noexcept {
    return static_cast<std::size_t>(std::ranges::find(neighbors_, rank_) - neighbors_.begin());
  }

  struct worker_summary {
    int max_per_rank;
    bool share_cores;  ///< whether those of any rank do
  };
  /// Collective at the first call.
  [[nodiscard]] worker_summary workers();

  /// Memory shared by the ranks of this machine: zeroed, page-aligned, allocated on first touch. It
  /// has no name in any file system, and exists until the last rank has released it or has ended.
  ///
  /// bytes     the same on all ranks of a machine; 0 is allowed
  /// Throws    system_failure, the same on all ranks of a machine, if one of them cannot create or
  ///           open the memory; other machines are not affected
  /// Collective
  [[nodiscard]] std::shared_ptr<const net::segment> share(std::size_t bytes);

  /// Memory that lend() returned; in use until the last copy of this object is destroyed.
  class lent_memory {
   public:
    lent_memory() = default;
    /// The first n values; none on all ranks of a machine that cannot share memory.
    template <class T>
    [[nodiscard]] std::span<T> values(std::size_t n) const {
      static_assert(std::is_trivially_copyable_v<T>);
      if (!memory_ || !*memory_) return {};
      CAIRN_EXPECTS(n * sizeof(T) <= (*memory_)->size());
      return {reinterpret_cast<T*>((*memory_)->data()), n};
    }

   private:
    friend class machines;
    explicit lent_memory(std::shared_ptr<const std::shared_ptr<const net::segment>> memory)
        : memory_(std::move(memory)) {}
    std::shared_ptr<const std::shared_ptr<const net::segment>> memory_;
  };
  /// share() that reuses memory which is no longer in use. The bytes are undetermined, and other
  /// ranks may write theirs before this call returns.
  ///
  /// All ranks call this and destroy what they got in one and the same order. Between a rank's last
  /// access and the destruction lies a collective, or the end of an epoch in which the access was.
  ///
  /// bytes     the same on all ranks
  /// Memory    is kept for later calls until the world ends, none of it fits, or a run is cancelled
  /// Collective, but a barrier only if new memory is shared
  [[nodiscard]] lent_memory lend(std::size_t bytes);

 private:
  world& world_;
  rank_t rank_;
  std::vector<int> machine_of_;
  std::shared_ptr<shared_heap> heap_;
  int count_ = 0;
  std::vector<rank_t> neighbors_;
  std::uint64_t num_shared_ = 0;  // calls of share(); the same on all ranks after each
  std::optional<worker_summary> workers_;

  struct piece {
    std::shared_ptr<const net::segment> memory;
    std::size_t bytes;
    bool in_use;
  };
  std::vector<std::shared_ptr<piece>> pieces_;  // the same on all ranks
  std::uint32_t generation_ = 0;                // in which they were shared
};

}  // namespace cairn
