// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

#include "algo/triangle_count.hpp"

// Counts triangles along the input rows of an undirected graph, on one rank. There is no
// preparation, so this is fastest where the rows of smaller neighbors are short and near.

namespace cairn::algo {

/// v's neighbors that are smaller than v; none if there are fewer than two.
template <class Id>
[[gnu::always_inline]] inline std::span<const Id> pairs_below(const graph::row_view<Id>& rows,
                                                              std::uint64_t v) {
  const auto row = rows.neighbors(v);
  if (row.size() < 2 || row[1] >= v) return {};
  std::size_t size = 2;
  while (size < row.size() && row[size] < v) ++size;
  return row.first(size);
}

/// The part of a row below its vertex is searched for n ids, instead of being read, if it is longer
/// than this. So no hub makes a count take more than O(m^1.5 log m).
[[nodiscard]] constexpr std::size_t longest_read(std::size_t n) { return 256 + 64 * n; }

/// Searches a row for ascending ids.
template <class Id, class CountFor>
[[gnu::noinline, gnu::cold]] triangle_count search_row(std::span<const Id> row,
                                                       std::span<const Id> ids,
                                                       CountFor& count_for) {
  triangle_count all;
  auto at = row.begin();
  for (std::size_t i = 0; i < ids.size() && at != row.end(); ++i) {
    if (i > 0 && ids[i] == ids[i - 1]) continue;
    at = std::lower_bound(at, row.end(), ids[i]);
    ++all.looked_at;
    if (at == row.end() || *at != ids[i]) continue;
    ++all.triangles;
    count_for(ids[i], 1);
  }
  return all;
}

/// Looks up the entries of u's row that are below u.
template <edges_are Edges, class Id, class CountFor>
[[gnu::always_inline]] inline triangle_count look_up_below(std::span<const Id> row, Id u,
                                                           const std::uint8_t* marks,
                                                           CountFor& count_for) {
  std::uint64_t found = 0;
  const auto* x = row.data();
  const auto* const end = x + row.size();
  if constexpr (Edges == edges_are::distinct && !counts_per_vertex<CountFor>) {
    for (; end - x >= 4 && x[3] < u; x += 4) {
      found += std::uint64_t{marks[x[0]]} + marks[x[1]] + marks[x[2]] + marks[x[3]];
    }
  }
  for (; x != end && *x < u; ++x) {
    if (Edges == edges_are::repeated && x != row.data() && *x == x[-1]) continue;
    const auto marked = marks[*x];
    found += marked;
    if constexpr (counts_per_vertex<CountFor>) {
      if (marked != 0) count_for(*x, 1);
    }
  }
  return {found, static_cast<std::uint64_t>(x - row.data())};
}

/// Triangles whose largest vertex is v.
///
/// below    the neighbors that are smaller than v
/// marks    a byte per vertex, all 0 before and after
template <edges_are Edges, class Id, class CountFor>
[[gnu::always_inline]] inline triangle_count count_by_bytes(const graph::row_view<Id>& rows, Id v,
                                                            std::span<const Id> below,
                                                            std::uint8_t* marks,
                                                            CountFor& count_for) {
  triangle_count all;
  for (const Id u : below) {
    marks[u] = 1;
    rows.prefetch_row(u);
  }
  for (std::size_t i = 1; i < below.size(); ++i) {
    const Id u = below[i];
    if (u == below[i - 1]) {
      all.repeated = Edges == edges_are::distinct;
      continue;
    }
    const auto row = rows.neighbors(u);
    const auto longest = longest_read(i);
    const auto of_u = row.size() > longest && row[longest] < u
                          ? search_row(row, below.first(i), count_for)
                          : look_up_below<Edges>(row, u, marks, count_for);
    if (of_u.triangles != 0) count_for(u, of_u.triangles);
    all += of_u;
  }
  for (const Id u : below) marks[u] = 0;
  if (all.triangles != 0) count_for(v, all.triangles);
  return all;
}

#if defined(__x86_64__)
/// Triangles whose largest vertex has at most 8 smaller neighbors: compares them with 8 entries of
/// each other's rows at a time. A merge of such short rows would mispredict branches.
template <edges_are Edges>
class short_rows {
 public:
  [[gnu::target("avx2"),
    gnu::always_inline]] explicit short_rows(const graph::row_view<std::uint32_t>& rows)
      : rows_(rows), less_(_mm256_setzero_si256()) {}

  [[gnu::target("avx2"), gnu::always_inline]] void count(std::span<const std::uint32_t> below) {
    for (std::size_t i = 1; i < below.size(); ++i) {
      const auto u = below[i];
      if (u == below[i - 1]) {
        all_.repeated = Edges == edges_are::distinct;
        continue;
      }
      auto row = rows_.neighbors(u);
      if (const auto longest = longest_read(i); row.size() > longest) {
        if (row[0] >= u) continue;
        if (row[longest] < u) {
          no_counts ignored;
          all_ += search_row(row, below.first(i), ignored);
          continue;
        }
        row = row.first(longest);
      }
      compare(row, u, below.first(i));
    }
  }

  [[nodiscard, gnu::target("avx2"), gnu::always_inline]] triangle_count all() const {
    alignas(32) std::int32_t by_lane[lanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(by_lane), less_);
    auto all = all_;
    for (const auto n : by_lane) all.triangles += static_cast<std::uint64_t>(-n);
    return all;
  }

 private:
  // Entries beyond u are not in `sought`. May read `lanes - 1` entries beyond the row.
  [[gnu::target("avx2"), gnu::always_inline]] void compare(std::span<const std::uint32_t> row,
                                                           std::uint32_t u,
                                                           std::span<const std::uint32_t> sought) {
    auto previous = _mm256_set1_epi32(-1);
    std::size_t at = 0;
    do {
      const auto entries = load_lanes(row.data() + at);
      auto equal = _mm256_cmpeq_epi32(entries, _mm256_set1_epi32(static_cast<int>(sought[0])));
      for (std::size_t j = 1; j < sought.size(); ++j) {
        const auto id = _mm256_set1_epi32(static_cast<int>(sought[j]));
        equal = _mm256_or_si256(equal, _mm256_cmpeq_epi32(entries, id));
      }
      equal = _mm256_and_si256(equal, lanes_below(row.size() - at));
      if constexpr (Edges == edges_are::repeated) {
        const auto halves = _mm256_permute2x128_si256(previous, entries, 0x21);
        const auto before = _mm256_alignr_epi8(entries, halves, 12);  // of each entry
        equal = _mm256_andnot_si256(_mm256_cmpeq_epi32(before, entries), equal);
        previous = entries;
      }
      less_ = _mm256_add_epi32(less_, equal);
      at += lanes;
    } while (at < row.size() && row[at - 1] < u);
    all_.looked_at += std::min(at, row.size());
  }

  const graph::row_view<std::uint32_t> rows_;
  __m256i less_;  // negated number of triangles, by lane
  triangle_count all_;
};

template <edges_are Edges>
[[gnu::target("avx2")]] triangle_count compare_rows(const graph::csr<std::uint32_t>& all_rows,
                                                    std::uint64_t first, std::uint64_t last,
                                                    std::uint8_t* marks) {
  const auto rows = all_rows.rows();
  const auto* const end = all_rows.targets().data() + all_rows.targets().size();
  short_rows<Edges> of_short(rows);
  triangle_count all;
  no_counts ignored;
  for (auto v = first; v < last; ++v) {
    const auto below = pairs_below(rows, v);
    if (below.empty()) continue;
    // Rows of smaller vertices end before this row begins, so reading beyond them stays in bounds.
    const bool in_bounds = end - below.data() >= static_cast<std::ptrdiff_t>(lanes);
    if (below.size() <= lanes && in_bounds) {
      of_short.count(below);
    } else {
      all += count_by_bytes<Edges>(rows, static_cast<std::uint32_t>(v), below, marks, ignored);
    }
  }
  all += of_short.all();
  return all;
}
#endif

/// Whether runs without counts per vertex compare short rows by vector instructions.
template <class Id>
[[nodiscard]] bool short_rows_are_compared() {
#if defined(__x86_64__)
  return sizeof(Id) == 4 && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

/// Triangles whose largest vertex is in [first, last).
///
/// marks    a byte per vertex, all 0 before and after
template <edges_are Edges, class Id, class CountFor>
triangle_count count_in_natural_order(const graph::csr<Id>& all_rows, std::uint64_t first,
                                      std::uint64_t last, std::uint8_t* marks,
                                      CountFor&& count_for) {
#if defined(__x86_64__)
  if constexpr (sizeof(Id) == 4 && !counts_per_vertex<CountFor>) {
    if (short_rows_are_compared<Id>()) {
      return compare_rows<Edges>(all_rows, first, last, marks);
    }
  }
#endif
  const auto rows = all_rows.rows();
  triangle_count all;
  for (auto v = first; v < last; ++v) {
    const auto below = pairs_below(rows, v);
    if (below.empty()) continue;
    all += count_by_bytes<Edges>(rows, static_cast<Id>(v), below, marks, count_for);
  }
  return all;
}

/// What the natural order would cost, from a sample of edges.
struct natural_sample {
  double cost = 0;       ///< ns per edge
  double by_degree = 0;  ///< ns per edge in the order by degree, with its preparation
  double looked_up = 0;  ///< entries per edge that are looked up one by one
  bool repeated = false;
};

/// The constants are of one processor (AMD Zen 2), fitted to 37 graphs. A row costs a miss if it is
/// far from that of the larger neighbor, unless it is visited so often that it stays cached.
///
/// compared    whether short rows are compared by vector instructions
template <class Id>
[[nodiscard]] natural_sample sample_naturally(const graph::csr<Id>& all, bool compared) {
  constexpr std::uint64_t entries_per_sample = 256, max_samples = 256, min_samples = 32;
  constexpr double cached_entries = 1 << 16;  // between two visits of a row that stays in a cache
  constexpr std::size_t few = 8;              // are compared at a time
  constexpr double edge_ns = 1.5, entry_ns = .6, compare_ns = 1.2, share_of_id = .6, search_ns = 50;
  constexpr double miss_ns = 8, long_row_miss_ns = 20;
  constexpr double preparation_ns = 9, entry_by_degree_ns = .7;
  const auto as_double = [](auto n) { return static_cast<double>(n); };
  const auto rows = all.rows();
  const auto offsets = all.offsets();
  const auto entries = all.num_edges();
  const auto samples =
      std::min(entries, std::clamp(entries / entries_per_sample, min_samples, max_samples));
  const auto num_below = [](std::span<const Id> row, std::uint64_t v) {
    return static_cast<std::size_t>(std::lower_bound(row.begin(), row.end(), v) - row.begin());
  };
  natural_sample s;
  random64 random(1);
  double edges = 0, degrees = 0;
  for (std::uint64_t k = 0; k < samples; ++k) {
    const auto stride = entries / samples;
    const auto at = offsets[0] + k * stride + random.below(stride);
    const auto above = std::upper_bound(offsets.begin(), offsets.end(), at);
    const auto v = all.first() + static_cast<std::uint64_t>(above - offsets.begin()) - 1;
    const auto row = rows.neighbors(v);
    const auto i = static_cast<std::size_t>(at - *(above - 1));
    const Id u = row[i];
    degrees += as_double(row.size());
    s.repeated |= i > 0 && u == row[i - 1];
    if (u >= v) continue;
    ++edges;
    if (i == 0) continue;
    const auto other = rows.neighbors(u);
    const auto below = num_below(other, u);
    const auto since_visit = std::min(as_double(row.data() - other.data()),
                                      as_double(entries) / as_double(other.size()));
    const bool missed = since_visit > cached_entries;
    if (!compared || num_below(row, v) > few) {
      s.cost += entry_ns * as_double(below) + (missed ? long_row_miss_ns : 0);
      s.looked_up += as_double(below);
    } else if (below > longest_read(i)) {
      s.cost += search_ns * as_double(i);
    } else {
      s.cost += compare_ns * as_double(below / few + 1) * (1 + share_of_id * as_double(i)) +
                (missed ? miss_ns : 0);
    }
  }
  if (edges == 0) return s;
  s.cost = edge_ns + s.cost / edges;
  s.looked_up /= edges;
  // Any order halves rows of equal length; the order by degree shortens others more.
  const auto mean = as_double(entries) / as_double(all.num_nonempty_rows());
  const auto mean_of_ends = degrees / as_double(samples);
  s.by_degree = preparation_ns + entry_by_degree_ns * mean / 2 * mean / mean_of_ends;
  return s;
}

/// Chooses from the input rows. Long rows may be better as a matrix.
template <class Id>
[[nodiscard]] triangle_choice choose_by_rows(world& w, const graph::dist_csr<Id>& g,
                                             const triangles_options& opt) {
  constexpr double long_rows = 32;
  if (opt.mode != triangles_mode::automatic) return {opt.mode, "it was requested"};
  if (w.size() > 1 || g.directed()) return {triangles_mode::automatic, {}};
  const auto s = sample_naturally(g.out(), !opt.per_vertex && short_rows_are_compared<Id>());
  if (s.cost > s.by_degree || s.looked_up > long_rows) return {triangles_mode::automatic, {}};
  return {triangles_mode::natural, "rows of smaller neighbors are short or near",
          s.repeated ? edges_are::repeated : edges_are::distinct};
}

}  // namespace cairn::algo
