// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn::hw {

/// The machine as the operating system shows it to this process. An unknown count or size is 0, an
/// unknown text is empty.
struct topology {
  int sockets = 0;
  int cores = 0;
  int hardware_threads = 0;
  int numa_nodes = 0;
  std::uint64_t l1_bytes = 0;      ///< data cache of one core
  std::uint64_t l2_bytes = 0;      ///< of one core, or of the cores that share one
  std::uint64_t l3_bytes = 0;      ///< of the cores that share one
  std::uint64_t memory_bytes = 0;  ///< see total_memory
  std::string model;               ///< of the processor, as it reports itself
};

/// Inspects the machine. Takes milliseconds: keep the result.
/// Throws    system_failure if hwloc cannot start
[[nodiscard]] topology read_topology();

/// The processor's name as it reports itself, without the rest: 0.1 ms. Empty if unknown.
[[nodiscard]] std::string processor_model();

/// The hardware threads on which a thread may run. Read it before any thread is pinned: a pinned
/// thread, and every thread that it starts, may run on one only.
class core_set {
 public:
  /// The set of the calling thread. A limit on processor time (a container's quota) is not
  /// considered.
  [[nodiscard]] static core_set of_this_thread();

  /// At least 1.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(numbers_.size()); }
  /// The operating system's numbers, ascending.
  [[nodiscard]] const std::vector<int>& numbers() const noexcept { return numbers_; }

  /// Binds the calling thread to the `index`-th of the set (index >= 0, modulo size()). Failures
  /// are ignored, because pinning is an optimisation.
  void pin_this_thread(int index) const noexcept;
  /// Lets the calling thread run on the whole set again. Failures are ignored.
  void unpin_this_thread() const noexcept;

 private:
  explicit core_set(std::vector<int> numbers) : numbers_(std::move(numbers)) {}
  std::vector<int> numbers_;
};

/// core_set::of_this_thread().size(), which `--threads auto` divides among the ranks here.
[[nodiscard]] int allowed_cores();

}  // namespace cairn::hw
