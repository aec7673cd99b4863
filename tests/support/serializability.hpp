// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::support {

/// One access of a recorded attempt: the value found in a cell, and the value written.
struct recorded_access {
  std::uint32_t cell;
  std::uint64_t found;
  std::uint64_t put = 0;  ///< 0: only read
};

/// The attempts of one thread in order, committed or aborted. Each value written is unique and
/// identifies its writer, so the reads-from relation is known exactly. A cell is read before it is
/// written, so the order of its versions is also known.
class recorded_thread {
 public:
  recorded_thread(std::uint32_t thread, std::uint32_t num_threads)
      : thread_(thread), num_threads_(num_threads) {}

  void begin() {
    starts_.push_back(accesses_.size());
    committed_.push_back(false);
  }
  /// A value for the running attempt, to be passed to the next add(). At most 16 accesses.
  [[nodiscard]] std::uint64_t fresh() const noexcept {
    return attempt(starts_.size() - 1) << 8 | ((accesses_.size() - starts_.back()) & 0xff);
  }
  void add(const recorded_access& a) { accesses_.push_back(a); }
  void committed() { committed_.back() = true; }
  void clear() {
    starts_.clear();
    accesses_.clear();
    committed_.clear();
  }

  [[nodiscard]] std::size_t size() const noexcept { return starts_.size(); }

 private:
  friend class history;

  // Attempt 0 wrote the initial values; the other numbers are assigned to the threads round-robin.
  [[nodiscard]] std::uint64_t attempt(std::size_t i) const noexcept {
    return 1 + i * num_threads_ + thread_;
  }

  std::uint32_t thread_, num_threads_;
  std::vector<std::size_t> starts_;
  std::vector<recorded_access> accesses_;
  std::vector<bool> committed_;
};

/// The value that a cell (below 256) holds before the first attempt.
[[nodiscard]] constexpr std::uint64_t first_value(std::uint32_t cell) noexcept { return cell; }

/// Verifies recorded transactions: committed attempts must have taken effect in some serial order
/// that preserves each thread's order, and aborted attempts must have read a state of that order
/// (opacity).
///
/// The graph: an attempt follows the writer of each value that it read, and precedes the attempt
/// that replaced it. A cycle means that there is no such order.
class history {
 public:
  explicit history(const std::vector<recorded_thread>& threads) : threads_(threads) {}

  /// Empty if there is no violation, else one sentence.
  [[nodiscard]] std::string complaint() const;

 private:
  const std::vector<recorded_thread>& threads_;
};

}  // namespace cairn::support
