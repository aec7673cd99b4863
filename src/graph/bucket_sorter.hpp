// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <graph/arcs.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/graph/edge.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::graph::detail {

/// The weights of an arc_line; empty if unweighted.
template <class W, std::size_t N>
struct weight_lane {
  W at[N];
};
template <std::size_t N>
struct weight_lane<unweighted, N> {};

/// 16 arcs of a bucket: about one cache line of targets and half a line of rows.
template <class Id, class W>
struct arc_line {
  static constexpr std::size_t arcs = 16;
  Id targets[arcs];
  std::uint16_t rows[arcs];
  [[no_unique_address]] weight_lane<W, arcs> weights;
};

/// Arcs 0 .. size-1 of consecutive lines.
template <class Id, class W>
struct arc_run {
  const arc_line<Id, W>* lines;
  std::size_t size;
};

/// Unsorted arcs of consecutive rows, and the output arrays for the sorted ones.
///
/// runs            the arcs; rows are numbered from the bucket's first
/// targets, edges  out, shape [number of arcs]; edges unused if unweighted
/// offsets         out, shape [num_rows]: where each row starts, relative to `targets`
template <class Id, class W>
struct bucket {
  const std::vector<arc_run<Id, W>>& runs;
  Id* targets;
  weighted_edge<Id, W>* edges;
  std::uint64_t* offsets;
  std::size_t num_rows;

  [[nodiscard]] std::size_t size() const {
    std::size_t n = 0;
    for (const auto& run : runs) n += run.size;
    return n;
  }

  /// Calls f(line, k) for arc k of each line.
  template <class F>
  void for_each_arc(F&& f) const {
    constexpr auto arcs_per_line = arc_line<Id, W>::arcs;
    for (const auto& run : runs) {
      const auto* line = run.lines;
      for (auto left = run.size; left != 0; ++line) {
        const auto n = std::min(left, arcs_per_line);
        for (std::size_t k = 0; k < n; ++k) f(*line, k);
        left -= n;
      }
    }
  }
};

/// Sorts buckets by (row, target, weight); one sorter per worker.
///
/// Memory    32 bytes (weighted: 64) per arc of the largest bucket. Buckets of more than
///           `max_radix` arcs, which only very skewed graphs have, are sorted in place
template <class Id, class W>
class bucket_sorter {
 public:
  explicit bucket_sorter(std::size_t max_radix = 1 << 22) : max_radix_(max_radix) {}

  /// target_bits      targets are below 2^target_bits, target_bits <= 48
  /// drop_duplicates  keeps one of the arcs with equal row and target: the one of least weight
  /// Returns          the number of arcs kept; they come first
  std::size_t operator()(const bucket<Id, W>& b, unsigned target_bits, bool drop_duplicates) {
    const auto size = b.size();
    if (size <= max_radix_) {
      sort_by_radix(b, size, target_bits);
    } else {
      sort_row_by_row(b);
    }
    return close_rows(b, drop_duplicates);
  }

 private:
  static constexpr bool weighted = !std::is_same_v<W, unweighted>;
  static constexpr unsigned max_digit_bits = 11;  // 2048 counters fit in L1

  struct weighted_key {
    std::uint64_t key;
    W weight;
  };
  struct plain_key {
    std::uint64_t key;
  };
  using item = std::conditional_t<weighted, weighted_key, plain_key>;

  using line = arc_line<Id, W>;

  // LSD radix sort by the digits of the target; the row is the last digit and moves each arc into
  // its row. Both sorting methods fill row_ends_.
  void sort_by_radix(const bucket<Id, W>& b, std::size_t size, unsigned target_bits) {
    const auto passes = std::max(1u, (target_bits + max_digit_bits - 1) / max_digit_bits);
    const auto digit_bits = std::max(1u, (target_bits + passes - 1) / passes);
    const auto digits = std::size_t{1} << digit_bits;
    const auto digit_of = [&](std::uint64_t target, unsigned pass) {
      return (target >> (pass * digit_bits)) & (digits - 1);
    };
    counts_.assign(passes * digits, 0);
    row_ends_.assign(b.num_rows, 0);
    b.for_each_arc([&](const line& from, std::size_t k) {
      for (unsigned pass = 0; pass < passes; ++pass) {
        ++counts_[pass * digits + digit_of(from.targets[k], pass)];
      }
      ++row_ends_[from.rows[k]];
    });
    for (unsigned pass = 0; pass < passes; ++pass) {
      exclusive_sums(counts_.data() + pass * digits, digits);
    }
    exclusive_sums(row_ends_.data(), b.num_rows);

    if (from_.size() < size) {
      from_ = {}, to_ = {};
      const auto room = std::bit_ceil(size);
      from_ = hw::page_buffer<item>(room);
      to_ = hw::page_buffer<item>(room);
    }
    auto* from = from_.data();
    auto* to = to_.data();
    b.for_each_arc([&](const line& in, std::size_t k) {
      const std::uint64_t target = in.targets[k];
      auto& place = to[counts_[digit_of(target, 0)]++];
      place.key = (std::uint64_t{in.rows[k]} << target_bits) | target;
      if constexpr (weighted) place.weight = in.weights.at[k];
    });
    const auto target_mask = (std::uint64_t{1} << target_bits) - 1;
    for (unsigned pass = 1; pass < passes; ++pass) {
      std::swap(from, to);
      auto* const at = counts_.data() + pass * digits;
      for (std::size_t i = 0; i < size; ++i) {
        const auto x = from[i];
        to[at[digit_of(x.key & target_mask, pass)]++] = x;
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      const auto x = to[i];
      const auto at = row_ends_[x.key >> target_bits]++;
      const auto target = static_cast<Id>(x.key & target_mask);
      b.targets[at] = target;
      if constexpr (weighted) b.edges[at] = {target, x.weight};
    }
  }

  void sort_row_by_row(const bucket<Id, W>& b) {
    row_ends_.assign(b.num_rows, 0);
    b.for_each_arc([&](const line& from, std::size_t k) { ++row_ends_[from.rows[k]]; });
    exclusive_sums(row_ends_.data(), b.num_rows);
    b.for_each_arc([&](const line& from, std::size_t k) {
      const auto at = row_ends_[from.rows[k]]++;
      b.targets[at] = from.targets[k];
      if constexpr (weighted) b.edges[at] = {from.targets[k], from.weights.at[k]};
    });
    std::size_t begin = 0;
    for (const auto end : row_ends_) {
      std::sort(b.targets + begin, b.targets + end);
      if constexpr (weighted) std::sort(b.edges + begin, b.edges + end);
      begin = end;
    }
  }

  std::size_t close_rows(const bucket<Id, W>& b, bool drop_duplicates) {
    std::size_t begin = 0, kept = 0;
    for (std::size_t r = 0; r < b.num_rows; ++r) {
      const auto end = static_cast<std::size_t>(row_ends_[r]);
      b.offsets[r] = kept;
      if constexpr (weighted) sort_ties(b, begin, end);
      kept = drop_duplicates ? compact_row(b, begin, end, kept) : end;
      begin = end;
    }
    return kept;
  }

  // The radix sort ignores weights; this sorts arcs with equal targets.
  static void sort_ties(const bucket<Id, W>& b, std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end;) {
      auto j = i + 1;
      while (j < end && b.targets[j] == b.targets[i]) ++j;
      if (j - i > 1) std::sort(b.edges + i, b.edges + j);
      i = j;
    }
  }

  static std::size_t compact_row(const bucket<Id, W>& b, std::size_t begin, std::size_t end,
                                 std::size_t kept) {
    if (begin == end) return kept;
    auto last = static_cast<Id>(b.targets[begin] + 1);  // different from the first target
    for (auto i = begin; i < end; ++i) {
      const auto target = b.targets[i];
      const bool fresh = target != last;
      if (weighted && !fresh) continue;
      b.targets[kept] = target;  // kept <= i; the next arc overwrites a duplicate
      if constexpr (weighted) b.edges[kept] = b.edges[i];
      kept += fresh;
      last = target;
    }
    return kept;
  }

  template <class Count>
  static void exclusive_sums(Count* counts, std::size_t n) {
    Count sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::exchange(counts[i], sum);
  }

  std::size_t max_radix_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> row_ends_;
  hw::page_buffer<item> from_, to_;
};

}  // namespace cairn::graph::detail
