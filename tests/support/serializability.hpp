// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::support {

/// One access of a recorded attempt: the value it found in a cell, and what it put there.
struct recorded_access {
  std::uint32_t cell;
  std::uint64_t found;
  std::uint64_t put = 0;  ///< 0: it only read
};

/// What one thread's attempts did, one after the other, committed or left. Each value put is
/// different from all others and tells who put it, so that who read from whom is known exactly.
/// A cell is read before it is written, so that the order of its versions is known as well.
class recorded_thread {
 public:
  recorded_thread(std::uint32_t thread, std::uint32_t num_threads)
      : thread_(thread), num_threads_(num_threads) {}

  void begin() {
    starts_.push_back(accesses_.size());
    committed_.push_back(false);
  }
  /// A value for the attempt that runs, to add before the next. At most 16 accesses.
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

  // Attempt 0 is who put the first values; the threads' attempts are dealt in turn.
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

/// Judges what transactions did, from what each attempt found and put: they must have taken
/// effect as if one by one, each thread's in its order, and attempts that were left must have
/// found what some moment of that order held (opacity).
///
/// The graph: an attempt comes after whoever put what it found, and before whoever replaced it.
/// A cycle in it is an order that cannot be.
class history {
 public:
  explicit history(const std::vector<recorded_thread>& threads) : threads_(threads) {}

  /// Empty if all is well, else one sentence.
  [[nodiscard]] std::string complaint() const;

 private:
  const std::vector<recorded_thread>& threads_;
};

}  // namespace cairn::support
