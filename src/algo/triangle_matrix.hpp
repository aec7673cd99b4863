// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/chunk.hpp>

#include "algo/triangle_count.hpp"

namespace cairn::algo {

/// The rows of the vertices of largest degree as bits of a triangular matrix, which each rank has.
/// These vertices are numbered by descending degree: the entries of their kept rows have smaller
/// numbers, and the bits of any row cluster in few words.
///
/// Memory    max_chosen^2 / 16 bytes for the matrix, 2 bytes per vertex of the graph
template <class Id>
class triangle_matrix {
  using number = std::uint16_t;
  static constexpr number none = std::numeric_limits<number>::max();

 public:
  static constexpr std::size_t max_vertices = 1 << 15;

  /// Chooses at most `max_chosen` vertices: all with at least a certain degree.
  triangle_matrix(world& w, const oriented_rows<Id>& rows, std::uint64_t num_vertices,
                  std::size_t max_chosen)
      : rows_(rows),
        number_(num_vertices, w.memory()),
        whole_graph_(w.size() == 1),
        scratch_(w.workers()) {
    choose(w, std::min(max_chosen, max_vertices));
  }

  /// Whether v has a row in the matrix.
  [[nodiscard]] bool has(Id v) const { return number_[v] != none; }
  /// Number of these vertices that have a row in the matrix.
  [[nodiscard]] std::size_t num_chosen(std::span<const Id> vertices) const {
    return static_cast<std::size_t>(
        std::count_if(vertices.begin(), vertices.end(), [&](Id v) { return has(v); }));
  }

  /// Builds the matrix; must precede count(). Collective.
  void fill(world& w) {
    words_ = hw::page_buffer<std::uint64_t>(begin_of(chosen_.size()), w.memory());
    w.parallel_for(chosen_.size(), [&](worker_t, std::size_t begin, std::size_t end) {
      std::fill(words_.begin() + begin_of(begin), words_.begin() + begin_of(end), 0);
    });
    if (w.size() == 1) {
      set_own_rows(w, [](worker_t, std::span<const number>) {});
    } else {
      exchange_rows(w);
    }
    for (auto& s : scratch_) {
      s.value.bits.resize(chosen_.size() / 64 + 1);
      s.value.words.resize(chosen_.size() / 64 + 1);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return chosen_.size(); }

  /// The triangles whose first vertex is in rows [first, last): on one rank all, else those whose
  /// second vertex has a row in the matrix.
  ///
  /// marks    a bit per vertex, all clear before and after
  template <class CountFor>
  triangle_count count(worker_t k, std::size_t first, std::size_t last, std::uint64_t* marks,
                       CountFor&& count_for) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt")) return with_popcnt(k, first, last, marks, count_for);
#endif
    return count_rows(k, first, last, marks, count_for);
  }

 private:
  struct part {  // 64 vertices of a row, by number
    std::size_t word;
    std::uint64_t bits;
  };
  struct scratch {
    std::vector<std::uint64_t> bits;  // of a row, by number
    std::vector<part> words;          // the nonzero ones, ascending
    std::vector<Id> others;           // the entries of the row that have no number
  };

  // First word of row i; row i has i / 64 + 1 words.
  static std::size_t begin_of(std::size_t i) noexcept {
    const auto q = i / 64;
    return q * (q + 1) / 2 * 64 + i % 64 * (q + 1);
  }

  // A record is a row's number and its entries' numbers.
  void set(std::span<const number> record) {
    auto* const bits = words_.data() + begin_of(record[0]);
    for (const auto column : record.subspan(1)) {
      bits[column / 64] |= std::uint64_t{1} << (column % 64);
    }
  }

  // Sets the bits of this rank's rows. Calls f(worker, record) for each.
  template <class F>
  void set_own_rows(world& w, F&& f) {
    task::per_worker<std::vector<number>> records(w.workers());
    rows_.for_ranges(w, [&](worker_t k, std::size_t i, std::size_t last) {
      auto& record = records[k];
      std::uint64_t entries = 0;
      for (; i < last; ++i) {
        const auto row_number = number_[rows_.first() + i];
        if (row_number == none) continue;
        record.assign({row_number});
        for (const Id u : rows_.row(i)) record.push_back(number_[u]);
        set(record);
        f(k, std::span<const number>(record));
        entries += record.size() - 1;
      }
      w.counters().add(k, obs::counter::edges, entries);
    });
  }

  // Sets the bits of all rows, each of which its rank sends to the others.
  void exchange_rows(world& w) {
    task::per_worker<std::vector<number>> records(w.workers());
    const auto receive = [&](worker_t k, am::record_batch batch) {
      auto& record = records[k];
      for (const auto bytes : batch) {
        record.resize(bytes.size() / sizeof(number));
        std::memcpy(record.data(), bytes.data(), bytes.size());
        set(record);
        w.counters().add(k, obs::counter::edges, record.size() - 1);
      }
    };
    am::record_channel channel(w, receive, {.sends = false});
    am::epoch epoch(w);
    set_own_rows(w, [&](worker_t k, std::span<const number> record) {
      for (rank_t to{0}; to < w.size(); ++to) {
        if (to != w.rank()) channel.send(k, to, std::as_bytes(record));
      }
    });
    epoch.close();
  }

  void choose(world& w, std::size_t max_chosen) {
    constexpr std::size_t degrees = 1 << 16;  // larger degrees count as the largest
    const auto degree_of = [&](std::size_t v) {
      return std::min<std::size_t>(rows_.degree(v), degrees - 1);
    };
    struct state {
      std::vector<std::uint64_t> with_degree;
      std::vector<Id> chosen;
    };
    task::per_worker<state> states(w.workers());
    for (auto& s : states) s.value.with_degree.resize(degrees);
    w.parallel_for(number_.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      auto& with_degree = states[k].with_degree;
      for (auto v = begin; v < end; ++v) ++with_degree[degree_of(v)];
    });
    std::size_t min_degree = degrees;
    for (std::size_t count = 0; min_degree > 1; --min_degree) {
      for (const auto& s : states) count += s.value.with_degree[min_degree - 1];
      if (count > max_chosen) break;
    }
    w.parallel_for(number_.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      for (auto v = begin; v < end; ++v) {
        number_[v] = none;
        if (degree_of(v) >= min_degree) states[k].chosen.push_back(static_cast<Id>(v));
      }
    });
    for (const auto& s : states) {
      chosen_.insert(chosen_.end(), s.value.chosen.begin(), s.value.chosen.end());
    }
    std::sort(chosen_.begin(), chosen_.end(), [&](Id a, Id b) {
      return std::pair(rows_.degree(a), a) > std::pair(rows_.degree(b), b);
    });
    for (std::size_t i = 0; i < chosen_.size(); ++i) number_[chosen_[i]] = static_cast<number>(i);
  }

#if defined(__x86_64__)
  template <class CountFor>
  [[gnu::target("popcnt")]] triangle_count with_popcnt(worker_t k, std::size_t first,
                                                       std::size_t last, std::uint64_t* marks,
                                                       CountFor& count_for) {
    return count_rows(k, first, last, marks, count_for);
  }
#endif

  template <class CountFor>
  [[gnu::always_inline]] inline triangle_count count_rows(worker_t k, std::size_t first,
                                                          std::size_t last, std::uint64_t* marks,
                                                          CountFor& count_for) {
    auto& s = scratch_[k];
    triangle_count all;
    for (auto v = first; v < last; ++v) {
      const auto row = rows_.row(v);
      if (row.size() < 2) continue;
      const auto words = split(s, row);
      auto of_v = count_numbered(words, count_for);
      const auto id = static_cast<Id>(rows_.first() + v);
      if (of_v.triangles != 0) count_for(id, of_v.triangles);
      if (whole_graph_ && !s.others.empty()) {
        of_v += count_at<Id>(rows_, id, row, s.others, marks, count_for);
      }
      all += of_v;
    }
    return all;
  }

  // Returns the numbered entries of a row as words; the others go to s.others.
  [[gnu::always_inline]] inline std::span<const part> split(scratch& s, std::span<const Id> row) {
    std::size_t highest = 0, numbered = 0;
    s.others.clear();
    for (const Id u : row) {
      const std::size_t i = number_[u];
      if (i == none) {
        s.others.push_back(u);
        continue;
      }
      s.bits[i / 64] |= std::uint64_t{1} << (i % 64);
      highest = std::max(highest, i / 64);
      ++numbered;
    }
    std::size_t size = 0;
    if (numbered == 0) return {};
    if (highest < 8 * numbered) {  // scanning zeros is faster than sorting
      for (std::size_t i = 0; i <= highest; ++i) {
        const auto bits = std::exchange(s.bits[i], 0);
        s.words[size] = {i, bits};
        size += bits != 0 ? 1 : 0;
      }
    } else {
      for (const Id u : row) {
        const std::size_t i = number_[u];
        if (i == none || s.bits[i / 64] == 0) continue;
        s.words[size++] = {i / 64, std::exchange(s.bits[i / 64], 0)};
      }
      std::sort(s.words.begin(), s.words.begin() + static_cast<std::ptrdiff_t>(size),
                [](const part& a, const part& b) { return a.word < b.word; });
    }
    return {s.words.data(), size};
  }

  template <class CountFor>
  [[gnu::always_inline]] inline triangle_count count_numbered(std::span<const part> words,
                                                              CountFor& count_for) {
    triangle_count all;
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (auto left = words[i].bits; left != 0; left &= left - 1) {
        const auto at = words[i].word * 64 + static_cast<std::size_t>(std::countr_zero(left));
        const auto* const bits = words_.data() + begin_of(at);
        std::uint64_t found = 0;
        for (const auto& p : words.first(i + 1)) {  // matrix row `at` ends in this word or before
          auto common = bits[p.word] & p.bits;
          found += static_cast<std::uint64_t>(std::popcount(common));
          if constexpr (counts_per_vertex<CountFor>) {
            for (; common != 0; common &= common - 1) {
              count_for(chosen_[p.word * 64 + static_cast<std::size_t>(std::countr_zero(common))],
                        1);
            }
          }
        }
        if (found != 0) count_for(chosen_[at], found);
        all += {found, i + 1};
      }
    }
    return all;
  }

  const oriented_rows<Id>& rows_;
  hw::page_buffer<number> number_;  // of each vertex
  const bool whole_graph_;          // this rank has all rows
  std::vector<Id> chosen_;          // by number
  hw::page_buffer<std::uint64_t> words_;
  task::per_worker<scratch> scratch_;
};

/// A sample of the kept edges of all ranks.
template <class Id>
struct kept_sample {
  std::vector<Id> ends;            // targets of this rank's sampled edges
  std::uint64_t num_ends = 0;      // of all ranks
  double row = 0, row_at_end = 0;  // mean length of the row of an edge's first and second vertex
  double num_edges = 0;            // of all ranks, not only sampled ones
};
template <class Id>
[[nodiscard]] kept_sample<Id> sample_of(world& w, const oriented_rows<Id>& rows) {
  kept_sample<Id> s;
  const auto sampled_vertices = 1024 / static_cast<std::size_t>(w.size()) + 1;
  std::uint64_t own_ends = 0, length = 0, length_at_own_ends = 0;
  for (std::size_t v = 0; v < rows.size(); v += rows.size() / sampled_vertices + 1) {
    const auto row = rows.row(v);
    for (const Id u : row) {
      s.ends.push_back(u);
      length += row.size();
      if (!rows.owns(u)) continue;
      ++own_ends;
      length_at_own_ends += rows.row(u - rows.first()).size();
    }
  }
  std::array<std::uint64_t, 5> sums{s.ends.size(), own_ends, length, length_at_own_ends,
                                    rows.num_edges()};
  w.sum_each(sums);
  const auto mean = [](std::uint64_t sum, std::uint64_t n) {
    return static_cast<double>(sum) / static_cast<double>(std::max<std::uint64_t>(1, n));
  };
  s.num_ends = sums[0];
  s.row = mean(sums[2], sums[0]);
  s.row_at_end = mean(sums[3], sums[1]);
  s.num_edges = static_cast<double>(sums[4]);
  return s;
}

/// Builds the matrix if it is requested or pays off, and records the reason in `choice`. Per edge,
/// marks cost the length of the row at its target, in single-bit lookups. The matrix costs the
/// number of nonzero words of the row at its source, in more distant memory. Collective.
template <class Id>
[[nodiscard]] std::optional<triangle_matrix<Id>> choose_by_kept_rows(world& w,
                                                                     const oriented_rows<Id>& rows,
                                                                     std::uint64_t num_vertices,
                                                                     triangle_choice& choice) {
  constexpr double long_row = 32, entries_per_word = 0.7, bits = 64;
  if (choice.mode == triangles_mode::marks) return std::nullopt;
  const auto s = sample_of(w, rows);
  const auto lookups = s.num_edges * s.row_at_end;
  const bool requested = choice.mode == triangles_mode::matrix;
  // The matrix has max_chosen^2 / 128 words, which should be few compared with a rank's lookups.
  const auto worth = 2 * std::sqrt(lookups / static_cast<double>(w.size()));
  constexpr double most = triangle_matrix<Id>::max_vertices;
  const auto max_chosen = static_cast<std::size_t>(requested ? most : std::min(worth, most));
  const auto length = std::to_string(static_cast<std::uint64_t>(s.row_at_end));
  if (!requested) {
    choice = {triangles_mode::marks, "kept rows of " + length + " entries at the ends of edges"};
    const auto words = std::min(s.row, static_cast<double>(num_vertices) / bits + 1);
    if (s.row_at_end < long_row || entries_per_word * words > s.row_at_end) return std::nullopt;
  }
  std::optional<triangle_matrix<Id>> matrix(std::in_place, w, rows, num_vertices, max_chosen);
  if (requested) {
    matrix->fill(w);
    return matrix;
  }
  if (2 * w.sum(matrix->num_chosen(s.ends)) < s.num_ends) {
    choice.why += ", most of vertices whose degree is not among the largest";
    return std::nullopt;
  }
  matrix->fill(w);
  choice = {triangles_mode::matrix, "kept rows of " + length + " entries, most of the " +
                                        std::to_string(matrix->size()) +
                                        " vertices of largest degree"};
  return matrix;
}

}  // namespace cairn::algo
