// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include <cairn/algo/triangles.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/graph/csr.hpp>

#include "algo/oriented_rows.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Counts triangles by marks along rows whose edges are kept at the end of smaller degree. See also
// natural_triangles.hpp and triangle_matrix.hpp.

namespace cairn::algo {

/// Callback for runs without counts per vertex; does nothing.
struct no_counts {
  template <class Id>
  void operator()(Id, std::uint64_t) const noexcept {}
};
template <class CountFor>
inline constexpr bool counts_per_vertex = !std::is_same_v<std::remove_cvref_t<CountFor>, no_counts>;

/// Triangles found, row entries read to find them, and whether an entry was seen twice in a row.
struct triangle_count {
  std::uint64_t triangles = 0, looked_at = 0;
  bool repeated = false;

  triangle_count& operator+=(const triangle_count& more) noexcept {
    triangles += more.triangles;
    looked_at += more.looked_at;
    repeated |= more.repeated;
    return *this;
  }
};

#if defined(__x86_64__)
inline constexpr std::size_t lanes = 8;  // ids per register

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load_lanes(const std::uint32_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
/// All bits of the first n lanes.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i lanes_below(std::size_t n) {
  const auto numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), numbers);
}
#endif

/// For the natural order, because kept rows have no entry twice.
///
///   distinct   assumes that no row has an entry twice: if one has, `repeated` of triangle_count is
///              set, and the counts are wrong
///   repeated   skips repeated entries, which takes longer
enum class edges_are { distinct, repeated };

struct triangle_choice {
  triangles_mode mode;  ///< `automatic` until the kept rows are known
  std::string why;
  edges_are edges = edges_are::distinct;
};

inline void expect_possible(rank_t ranks, bool directed, triangles_mode mode) {
  CAIRN_EXPECTS(ranks == 1 || mode != triangles_mode::natural, "mode natural is for one rank");
  CAIRN_EXPECTS(!directed || mode != triangles_mode::natural,
                "mode natural is for undirected graphs");
}

/// Calls count_for(vertex, 1) for each marked entry of a row. Returns their number.
template <class Id, class CountFor>
[[gnu::always_inline]] inline std::uint64_t count_marked(std::span<const Id> row,
                                                         const std::uint64_t* marks,
                                                         CountFor& count_for) {
  std::uint64_t found = 0;
  for (const Id u : row) {
    const auto marked = marks[u / 64] >> (u % 64) & 1;
    found += marked;
    if constexpr (counts_per_vertex<CountFor>) {
      if (marked != 0) count_for(u, 1);
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

/// Triangles whose first vertex is v, found at its neighbors on this rank.
///
/// row      v's whole row
/// local    the part of the row that this rank owns
/// marks    a bit per vertex, all clear before and after
template <class Id, class CountFor>
[[gnu::always_inline]] inline triangle_count count_at(const oriented_rows<Id>& rows, Id v,
                                                      std::span<const Id> row,
                                                      std::span<const Id> local,
                                                      std::uint64_t* marks, CountFor& count_for) {
  triangle_count all;
  mark(row, marks);
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto other = rows.row(local[i] - rows.first());
    const auto found = count_marked(other, marks, count_for);
    if (found != 0) count_for(local[i], found);
    all += {found, other.size()};
  }
  unmark(row, marks);
  if (all.triangles != 0) count_for(v, all.triangles);
  return all;
}

/// Prefetch distances in row entries. Prefetching hides the cache misses of accessing rows in
/// random order.
inline constexpr std::size_t row_entries_ahead = 8, offset_entries_ahead = 16;

/// Prefetches what the entries after `at` need, which are vertices of this rank.
template <class Id>
[[gnu::always_inline]] inline void prefetch_ahead(const oriented_rows<Id>& rows, const Id* at) {
  static_assert(offset_entries_ahead <= oriented_rows<Id>::readable_beyond);
  rows.prefetch_offset(at[offset_entries_ahead] - rows.first());
  rows.prefetch_row(at[row_entries_ahead] - rows.first());
}

/// As count_at(), with prefetching.
template <class Id, class CountFor>
[[gnu::always_inline]] inline triangle_count count_by_bits(const oriented_rows<Id>& rows, Id v,
                                                           std::span<const Id> row,
                                                           std::span<const Id> local,
                                                           std::uint64_t* marks,
                                                           CountFor& count_for) {
  for (const Id& u : local) prefetch_ahead(rows, &u);
  return count_at(rows, v, row, local, marks, count_for);
}

#if defined(__x86_64__)
/// Triangles at a vertex whose row of at most Registers * 8 entries is kept in registers, in all
/// rotations. Comparing them with 8 entries of another row compares all pairs. There are no marks,
/// and no branch on the lengths of short rows, which would be unpredictable.
template <std::size_t Registers>
[[gnu::target("avx2"), gnu::always_inline]] inline triangle_count count_by_registers(
    const oriented_rows<std::uint32_t>& rows, std::span<const std::uint32_t> row,
    std::span<const std::uint32_t> local) {
  static constexpr std::uint32_t rotations[2 * lanes] = {0, 1, 2, 3, 4, 5, 6, 7,
                                                         0, 1, 2, 3, 4, 5, 6, 7};
  // Unused lanes hold ~0, which is no vertex.
  __m256i rotated[Registers * lanes];
  for (std::size_t r = 0; r < Registers; ++r) {
    auto* const of_register = rotated + r * lanes;
    const auto unused =
        _mm256_xor_si256(lanes_below(row.size() - r * lanes), _mm256_set1_epi32(-1));
    of_register[0] = _mm256_or_si256(load_lanes(row.data() + r * lanes), unused);
    for (std::size_t i = 1; i < lanes; ++i) {
      of_register[i] = _mm256_permutevar8x32_epi32(of_register[0], load_lanes(rotations + i));
    }
  }
  triangle_count all;
  auto less = _mm256_setzero_si256();  // negated number of triangles, by lane
  for (const auto& u : local) {
    prefetch_ahead(rows, &u);
    const auto other = rows.row(u - rows.first());
    all.looked_at += other.size();
    std::size_t at = 0;
    do {
      const auto entries = load_lanes(other.data() + at);
      auto equal = _mm256_cmpeq_epi32(entries, rotated[0]);
      for (std::size_t i = 1; i < Registers * lanes; ++i) {
        equal = _mm256_or_si256(equal, _mm256_cmpeq_epi32(entries, rotated[i]));
      }
      less = _mm256_add_epi32(less, _mm256_and_si256(equal, lanes_below(other.size() - at)));
      at += lanes;
    } while (at < other.size());
  }
  alignas(32) std::int32_t by_lane[lanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(by_lane), less);
  for (const auto n : by_lane) all.triangles += static_cast<std::uint64_t>(-n);
  return all;
}

/// As count_at(), by vector instructions if the row is short.
[[gnu::target("avx2"), gnu::always_inline]] inline triangle_count count_by_vectors(
    const oriented_rows<std::uint32_t>& rows, std::uint32_t v, std::span<const std::uint32_t> row,
    std::span<const std::uint32_t> local, std::uint64_t* marks) {
  if (row.size() <= lanes) return count_by_registers<1>(rows, row, local);
  if (row.size() <= 2 * lanes) return count_by_registers<2>(rows, row, local);
  no_counts ignored;
  return count_by_bits(rows, v, row, local, marks, ignored);
}
[[gnu::target("avx2")]] inline triangle_count count_by_vectors(
    const oriented_rows<std::uint32_t>& rows, std::size_t first, std::size_t last,
    std::uint64_t* marks) {
  triangle_count all;
  for (auto v = first; v < last; ++v) {
    const auto row = rows.row(v);
    if (row.size() < 2) continue;
    all += count_by_vectors(rows, static_cast<std::uint32_t>(v), row, row, marks);
  }
  return all;
}
[[gnu::target("avx2")]] inline triangle_count count_by_vectors(
    const oriented_rows<std::uint32_t>& rows, std::span<const row_visit<std::uint32_t>> visits,
    std::uint64_t* marks) {
  triangle_count all;
  for (const auto& x : visits) all += count_by_vectors(rows, x.v, x.row, x.local, marks);
  return all;
}
#endif

/// All triangles whose first vertex is in rows [first, last), on one rank. By vector instructions
/// if the processor, the width of ids and the request allow it, else by bits.
template <class Id, class CountFor>
triangle_count count_by_marks(const oriented_rows<Id>& rows, std::size_t first, std::size_t last,
                              std::uint64_t* marks, CountFor&& count_for) {
#if defined(__x86_64__)
  if constexpr (sizeof(Id) == 4 && !counts_per_vertex<CountFor>) {
    if (__builtin_cpu_supports("avx2")) return count_by_vectors(rows, first, last, marks);
  }
#endif
  triangle_count all;
  for (auto v = first; v < last; ++v) {
    const auto row = rows.row(v);
    if (row.size() < 2) continue;
    all += count_by_bits(rows, static_cast<Id>(v), row, row, marks, count_for);
  }
  return all;
}

/// All triangles whose first vertex visits this rank and whose second vertex is wanted here.
template <class Id, class CountFor>
triangle_count count_by_marks(const oriented_rows<Id>& rows, std::span<const row_visit<Id>> visits,
                              std::uint64_t* marks, CountFor&& count_for) {
#if defined(__x86_64__)
  if constexpr (sizeof(Id) == 4 && !counts_per_vertex<CountFor>) {
    if (__builtin_cpu_supports("avx2")) return count_by_vectors(rows, visits, marks);
  }
#endif
  triangle_count all;
  for (const auto& x : visits) all += count_by_bits(rows, x.v, x.row, x.local, marks, count_for);
  return all;
}

}  // namespace cairn::algo
