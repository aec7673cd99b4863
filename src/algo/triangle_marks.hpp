// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "algo/oriented_rows.hpp"
#include "algo/triangle_merge.hpp"

namespace cairn::algo {

/// Adds 1 to tell(vertex) for each entry of a row that is marked. Returns how many are.
template <class Id, class Tell>
[[gnu::always_inline]] inline std::uint64_t count_marked(std::span<const Id> row,
                                                         const std::uint64_t* marks, Tell& tell) {
  std::uint64_t found = 0;
  for (const Id u : row) {
    const auto marked = marks[u / 64] >> (u % 64) & 1;
    found += marked;
    if constexpr (tells<Tell>) {
      if (marked != 0) tell(u, 1);
    }
  }
  return found;
}

template <class Id>
[[gnu::always_inline]] inline void mark(std::span<const Id> row, std::uint64_t* marks) {
  for (const Id u : row) marks[u / 64] |= std::uint64_t{1} << (u % 64);
}
template <class Id>
[[gnu::always_inline]] inline void unmark(std::span<const Id> row, std::uint64_t* marks) {
  for (const Id u : row) marks[u / 64] = 0;
}

/// Triangles whose first vertex is v, at those of its neighbours whose rows are here.
///
/// row      v's, whole; here: the part of it that belongs to own vertices
/// marks    a bit per vertex, none set before and after
template <class Id, class Tell>
[[gnu::always_inline]] inline triangle_count count_at(const oriented_rows<Id>& rows, Id v,
                                                      std::span<const Id> row,
                                                      std::span<const Id> here,
                                                      std::uint64_t* marks, Tell& tell) {
  triangle_count all;
  mark(row, marks);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const auto other = rows.row(here[i] - rows.first());
    const auto found = count_marked(other, marks, tell);
    if (found != 0) tell(here[i], found);
    all += {found, other.size()};
  }
  unmark(row, marks);
  if (all.triangles != 0) tell(v, all.triangles);
  return all;
}

/// How far ahead of a row, along the entries of the rows to come, the rows that they name are
/// prefetched: what hides the misses of a walk in random order.
inline constexpr std::size_t row_entries_ahead = 8, offset_entries_ahead = 16;

/// Asks for what the entries after `at` will need. On one rank only, where all rows are here.
template <class Id>
[[gnu::always_inline]] inline void prefetch_ahead(const oriented_rows<Id>& rows, const Id* at) {
  static_assert(offset_entries_ahead <= oriented_rows<Id>::readable_beyond);
  rows.prefetch_offset(at[offset_entries_ahead]);
  rows.prefetch_row(at[row_entries_ahead]);
}

/// All triangles whose first vertex is in rows [first, last), on one rank.
template <class Id, class Tell>
triangle_count count_by_bits(const oriented_rows<Id>& rows, std::size_t first, std::size_t last,
                             std::uint64_t* marks, Tell& tell) {
  triangle_count all;
  for (auto v = first; v < last; ++v) {
    const auto row = rows.row(v);
    if (row.size() < 2) continue;
    for (const Id& u : row) prefetch_ahead(rows, &u);
    all += count_at(rows, static_cast<Id>(v), row, row, marks, tell);
  }
  return all;
}

#if defined(__x86_64__)
/// Triangles at a vertex whose row of at most Registers * 8 entries is kept in registers, each
/// turned all ways, so that 8 entries of another row meet all of its entries in as many comparisons
/// as it has lanes: no marks, and no branch on the lengths of short rows, which would be
/// unpredictable.
template <std::size_t Registers>
[[gnu::target("avx2"), gnu::always_inline]] inline triangle_count count_by_registers(
    const oriented_rows<std::uint32_t>& rows, std::span<const std::uint32_t> row) {
  static constexpr std::uint32_t ways[2 * lanes] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
  // Lanes without an entry hold ~0, which is no vertex.
  __m256i turned[Registers * lanes];
  for (std::size_t r = 0; r < Registers; ++r) {
    auto* const of_register = turned + r * lanes;
    const auto unused =
        _mm256_xor_si256(lanes_below(row.size() - r * lanes), _mm256_set1_epi32(-1));
    of_register[0] = _mm256_or_si256(load_lanes(row.data() + r * lanes), unused);
    for (std::size_t i = 1; i < lanes; ++i) {
      of_register[i] = _mm256_permutevar8x32_epi32(of_register[0], load_lanes(ways + i));
    }
  }
  triangle_count all;
  auto less = _mm256_setzero_si256();  // the number of triangles, negative, by lane
  for (const auto& u : row) {
    prefetch_ahead(rows, &u);
    const auto other = rows.row(u);
    all.looked_at += other.size();
    std::size_t at = 0;
    do {
      const auto entries = load_lanes(other.data() + at);
      auto met = _mm256_cmpeq_epi32(entries, turned[0]);
      for (std::size_t i = 1; i < Registers * lanes; ++i) {
        met = _mm256_or_si256(met, _mm256_cmpeq_epi32(entries, turned[i]));
      }
      less = _mm256_add_epi32(less, _mm256_and_si256(met, lanes_below(other.size() - at)));
      at += lanes;
    } while (at < other.size());
  }
  alignas(32) std::int32_t by_lane[lanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(by_lane), less);
  for (const auto n : by_lane) all.triangles += static_cast<std::uint64_t>(-n);
  return all;
}

/// All triangles whose first vertex is in rows [first, last), on one rank.
[[gnu::target("avx2")]] inline triangle_count count_by_vectors(
    const oriented_rows<std::uint32_t>& rows, std::size_t first, std::size_t last,
    std::uint64_t* marks) {
  triangle_count all;
  untold nobody;
  for (auto v = first; v < last; ++v) {
    const auto row = rows.row(v);
    if (row.size() < 2) continue;
    if (row.size() <= lanes) {
      all += count_by_registers<1>(rows, row);
    } else if (row.size() <= 2 * lanes) {
      all += count_by_registers<2>(rows, row);
    } else {
      for (const auto& u : row) prefetch_ahead(rows, &u);
      all += count_at(rows, static_cast<std::uint32_t>(v), row, row, marks, nobody);
    }
  }
  return all;
}
#endif

/// By vectors where this processor, the width of ids and what is asked for allow it, else by bits.
template <class Id, class Tell>
triangle_count count_by_marks(const oriented_rows<Id>& rows, std::size_t first, std::size_t last,
                              std::uint64_t* marks, Tell&& tell) {
#if defined(__x86_64__)
  if constexpr (sizeof(Id) == 4 && !tells<Tell>) {
    if (__builtin_cpu_supports("avx2")) return count_by_vectors(rows, first, last, marks);
  }
#endif
  return count_by_bits(rows, first, last, marks, tell);
}

}  // namespace cairn::algo
