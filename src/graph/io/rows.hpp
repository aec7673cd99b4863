// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <cairn/graph/io/native.hpp>
#include <cairn/task/parallel_for.hpp>

namespace cairn::graph::io {

/// Entries that a worker handles at a time.
inline constexpr std::uint64_t entries_per_piece = std::uint64_t{1} << 16;

/// The vertex whose row holds entry i.
[[nodiscard]] inline std::uint64_t row_of(const native_graph& g, std::uint64_t i) {
  const auto behind = std::upper_bound(g.offsets.begin(), g.offsets.end(), i);
  return static_cast<std::uint64_t>(behind - g.offsets.begin()) - 1;
}

/// Calls f(row, i) for the entries [begin, end).
template <class F>
void for_entries(const native_graph& g, std::uint64_t begin, std::uint64_t end, F&& f) {
  if (begin == end) return;
  auto row = row_of(g, begin);
  for (auto i = begin; i < end; ++i) {
    while (g.offsets[row + 1] <= i) ++row;
    f(row, i);
  }
}

/// The row of the first entry for which holds(row, i), if any; evaluated in parallel.
template <class Predicate>
[[nodiscard]] std::optional<std::uint64_t> first_row(task::pool& workers, const native_graph& g,
                                                     const Predicate& holds) {
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  const auto num_entries = g.offsets.back();
  const auto pieces = (num_entries + entries_per_piece - 1) / entries_per_piece;
  std::atomic<std::uint64_t> first{none};
  task::parallel_for(workers, {.elements = pieces, .chunk = 1},
                     [&](worker_t, std::size_t piece, std::size_t last) {
                       for (; piece < last; ++piece) {
                         const auto begin = piece * entries_per_piece;
                         const auto end = std::min(num_entries, begin + entries_per_piece);
                         for_entries(g, begin, end, [&](std::uint64_t row, std::uint64_t i) {
                           if (!holds(row, i)) return;
                           auto known = first.load(std::memory_order_relaxed);
                           while (row < known && !first.compare_exchange_weak(known, row)) continue;
                         });
                       }
                     });
  if (first.load() == none) return std::nullopt;
  return first.load();
}

}  // namespace cairn::graph::io
