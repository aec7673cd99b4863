// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <cairn/graph/csr.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cairn::algo {

/// Told of triangles where nobody asks for counts per vertex.
struct untold {
  template <class Id>
  void operator()(Id, std::uint64_t) const noexcept {}
};
template <class Tell>
inline constexpr bool tells = !std::is_same_v<std::remove_cvref_t<Tell>, untold>;

/// Triangles found, and entries of rows looked at for them.
struct triangle_count {
  std::uint64_t triangles = 0, looked_at = 0;

  triangle_count& operator+=(const triangle_count& more) noexcept {
    triangles += more.triangles;
    looked_at += more.looked_at;
    return *this;
  }
};

#if defined(__x86_64__)
inline constexpr std::size_t lanes = 8;  // ids in a register

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load_lanes(const std::uint32_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
/// All bits of the first n lanes.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i lanes_below(std::size_t n) {
  const auto numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), numbers);
}
#endif

/// Triangles whose largest vertex is v, by merging rows as they are, on one rank. Double edges and
/// self-loops are passed over.
template <class Id, class Tell>
triangle_count count_below(const graph::row_view<Id>& rows, std::uint64_t v, Tell& tell) {
  const auto row = rows.neighbors(v);
  triangle_count all;
  for (std::size_t i = 1; i < row.size() && row[i] < v; ++i) {
    const Id u = row[i];
    if (u == row[i - 1]) continue;
    const Id* mine = row.data();  // ends at u at the latest
    const auto other = rows.neighbors(u);
    std::uint64_t of_u = 0;
    auto x = other.begin();
    for (; x != other.end() && *x < u; ++x) {
      while (*mine < *x) ++mine;
      if (*mine != *x) continue;
      ++of_u;
      tell(*x, 1);
      while (*mine == *x) ++mine;  // so that a doubled x finds no second
    }
    if (of_u != 0) tell(u, of_u);
    all += {of_u, static_cast<std::uint64_t>(x - other.begin())};
  }
  if (all.triangles != 0) tell(static_cast<Id>(v), all.triangles);
  return all;
}

#if defined(__x86_64__)
/// Those whose largest vertex is in [first, last), where short rows are not merged: each two
/// smaller neighbours of a vertex are looked up, the lesser in the row of the other, 8 entries at
/// once. The lengths of short rows would make the branches of a merge unpredictable.
[[gnu::target("avx2")]] inline triangle_count count_pairs_below(
    const graph::csr<std::uint32_t>& all_rows, std::uint64_t first, std::uint64_t last) {
  const auto rows = all_rows.rows();
  const auto* const end = all_rows.targets().data() + all_rows.targets().size();
  triangle_count all;
  untold nobody;
  for (auto v = first; v < last; ++v) {
    const auto row = rows.neighbors(v);
    if (row.size() < 2 || row[1] >= v) continue;
    // A row of a smaller vertex ends before this one begins.
    if (row.size() > lanes || end - row.data() < static_cast<std::ptrdiff_t>(lanes)) {
      all += count_below(rows, v, nobody);
      continue;
    }
    for (std::size_t i = 1; i < row.size() && row[i] < v; ++i) {
      if (row[i] == row[i - 1]) continue;
      const auto other = rows.neighbors(row[i]);
      for (std::size_t j = 0; j < i; ++j) {
        if (j > 0 && row[j] == row[j - 1]) continue;
        const auto sought = _mm256_set1_epi32(static_cast<int>(row[j]));
        unsigned found = 0;
        for (std::size_t at = 0; at < other.size(); at += lanes) {
          const auto same = _mm256_cmpeq_epi32(load_lanes(other.data() + at), sought);
          found |= _mm256_testz_si256(same, lanes_below(other.size() - at)) == 0 ? 1 : 0;
        }
        all.triangles += found;
      }
      all.looked_at += other.size();
    }
  }
  return all;
}
#endif

/// Triangles whose largest vertex is in [first, last).
template <class Id, class Tell>
triangle_count count_in_natural_order(const graph::csr<Id>& rows, std::uint64_t first,
                                      std::uint64_t last, Tell&& tell) {
#if defined(__x86_64__)
  if constexpr (sizeof(Id) == 4 && !tells<Tell>) {
    if (__builtin_cpu_supports("avx2")) return count_pairs_below(rows, first, last);
  }
#endif
  triangle_count all;
  for (auto v = first; v < last; ++v) all += count_below(rows.rows(), v, tell);
  return all;
}

}  // namespace cairn::algo
