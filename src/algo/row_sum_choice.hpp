// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <cairn/base/types.hpp>
#include <cairn/obs/trace.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {

/// How the contributions of a row's sources are summed. All ways add in the same order.
///
/// near      at most four terms are summed without a branch: always four are loaded, from this row
///           or the next, and excess terms are multiplied by zero. For rows of unpredictable length
///           whose sources are in the caches
/// even      only the row's own terms are loaded. For rows as long as the row before
/// far       as `even`, and contributions are prefetched to the second cache, which waits for more
///           lines at once than the first. For sources that miss that cache
enum class row_sum : std::uint8_t { near, even, far };

/// Records how rows are summed from now on.
inline void note_choice(obs::trace& t, row_sum way) {
  constexpr std::array<std::string_view, 3> texts{"row sums: near", "row sums: even",
                                                  "row sums: far"};
  t.note(main_worker, obs::trace_kind::choice, texts[static_cast<std::size_t>(way)]);
}

/// Whether ways to sum rows are compared by whole runs, and not in the first sweep. The branch
/// predictor learns the lengths of all rows of a small graph, but needs several sweeps, so that
/// times in the first sweep mislead; and that comparison takes a large part of a short run. If the
/// contributions fit the second cache, prefetching does not pay.
[[nodiscard]] constexpr bool compares_runs(std::uint64_t sources, std::size_t contribution_bytes) {
  return sources <= 1 << 20 && contribution_bytes <= 1 << 19;
}

/// Chooses a way to sum rows by the times that each took for short stretches of rows in the first
/// sweep. Which one is fastest depends on the processor's caches, the order of the vertices and
/// the lengths of the rows.
///
/// In the first sweep one of each `period` stretches of a worker uses each way, and the others use
/// the fastest way so far. The first stretch of each way, which finds cold caches, does not count.
/// One that the system seems to have interrupted counts as a slow one.
///
/// A pure state machine.
/// Thread-safety: worker k calls next(k) and took(k, …); worker 0 calls the others in between.
class row_sum_choice {
 public:
  static constexpr std::size_t stretch = 512;  ///< rows at most: chunks may be shorter
  static constexpr std::uint64_t period = 8;

  /// given     the way of all rows; nothing: it is chosen in the first sweep
  row_sum_choice(int workers, std::optional<row_sum> given)
      : known_(workers), chosen_(given.value_or(row_sum::near)), learns_(!given) {}

  /// Whether stretches are to be timed.
  [[nodiscard]] bool learns() const noexcept { return learns_; }
  /// The way of all rows once nothing is to be timed.
  [[nodiscard]] row_sum chosen() const noexcept { return chosen_; }

  /// The way of worker k's next stretch.
  [[nodiscard]] row_sum next(worker_t k) noexcept {
    auto& mine = known_[k];
    const auto at = mine.stretches++ % period;
    return at < num_ways ? static_cast<row_sum>(at) : fastest(mine.ways);
  }
  /// Reports the time of a stretch; `terms` is its number of rows and edges.
  void took(worker_t k, row_sum way, std::uint64_t terms, std::uint64_t ns) noexcept {
    constexpr double interrupted = 8;  // times the usual time
    auto& mine = known_[k];
    if (mine.stretches <= num_ways) {  // what is usual, until others are known
      if (mine.stretches == 1 || mine.first.is_slower_than({terms, ns})) mine.first = {terms, ns};
      return;
    }
    const auto& known = mine.ways[static_cast<std::size_t>(fastest(mine.ways))];
    const auto& best = known.ns > 0 ? known : mine.first;
    if (best.ns > 0) {
      const auto usual = static_cast<double>(best.ns) / static_cast<double>(best.terms);
      const auto slow = interrupted * usual * static_cast<double>(terms);
      ns = std::min(ns, static_cast<std::uint64_t>(slow));
    }
    mine.ways[static_cast<std::size_t>(way)] += {terms, ns};
  }
  /// The first sweep has ended.
  void end() noexcept {
    times all{};
    for (const auto& k : known_) {
      for (std::size_t i = 0; i < num_ways; ++i) all[i] += k.value.ways[i];
    }
    chosen_ = fastest(all);
    learns_ = false;
  }

 private:
  static constexpr std::size_t num_ways = 3;
  struct time {
    std::uint64_t terms = 0, ns = 0;
    void operator+=(const time& other) noexcept {
      terms += other.terms;
      ns += other.ns;
    }
    [[nodiscard]] bool is_slower_than(const time& other) const noexcept {
      return static_cast<double>(other.ns) * static_cast<double>(terms) <
             static_cast<double>(ns) * static_cast<double>(other.terms);
    }
  };
  using times = std::array<time, num_ways>;
  struct of_worker {
    times ways{};
    time first;  // the fastest of those that do not count
    std::uint64_t stretches = 0;
  };

  // `near` unless another way is known to be faster.
  static row_sum fastest(const times& ways) noexcept {
    std::size_t best = 0;
    for (std::size_t i = 1; i < num_ways; ++i) {
      if (ways[best].is_slower_than(ways[i])) best = i;
    }
    return static_cast<row_sum>(best);
  }

  task::per_worker<of_worker> known_;
  row_sum chosen_;
  bool learns_;
};

}  // namespace cairn::algo
