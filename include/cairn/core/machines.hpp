// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

  /// Of the workers of all ranks.
  struct crew {
    int most;           ///< workers of a rank
    bool shares_cores;  ///< whether workers of any rank share a core
  };
  /// Collective at the first call.
  [[nodiscard]] crew workers();

  /// Memory shared by the ranks of this machine: zeroed, page-aligned, allocated on first touch. It
  /// has no name in any file system, and exists until the last rank has released it or has ended.
  ///
  /// bytes     the same on all ranks of a machine; 0 is allowed
  /// Throws    system_failure, the same on all ranks of a machine, if one of them cannot create or
  ///           open the memory; other machines are not affected
  /// Collective
  [[nodiscard]] std::shared_ptr<const net::segment> share(std::size_t bytes);

  /// Null on all ranks of a machine that cannot share memory.
  using loan = std::shared_ptr<const net::segment>;
  /// share(), or memory whose earlier use has ended on all ranks: its bytes are undetermined. The
  /// use ends with the result, on all ranks before their next call, also if it holds no memory.
  ///
  /// bytes     the same on all ranks
  /// Memory    what was in use at once at most, until the world ends
  /// Collective
  [[nodiscard]] std::shared_ptr<const loan> lend(std::size_t bytes);

 private:
  world& world_;
  std::vector<int> machine_of_;
  std::shared_ptr<shared_heap> heap_;
  int count_ = 0;
  std::vector<rank_t> neighbors_;
  std::uint64_t num_shared_ = 0;  // calls of share(); the same on all ranks after each
  std::optional<crew> workers_;

  struct piece {
    loan memory;
    std::size_t bytes;
    std::uint64_t number;  // greater than 0, the same on all ranks
    bool in_use;
  };
  std::vector<std::shared_ptr<piece>> pieces_;  // after a cancelled call, other ones than elsewhere
};

}  // namespace cairn
