// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/am/record_channel.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/chunk.hpp>
#include <cairn/traverse/own.hpp>

namespace cairn::algo {

/// The first of two concatenated ascending lists. The second is part of the first.
template <class Id>
[[nodiscard]] std::span<const Id> ascending_part(std::span<const Id> both) {
  const auto at = std::adjacent_find(both.begin(), both.end(), std::greater_equal<>());
  return both.first(static_cast<std::size_t>(at - both.begin()) + (at == both.end() ? 0 : 1));
}

/// The pairs of vertices that are kept: joined by an edge in any direction, or in both directions.
enum class kept_pairs { joined, joined_both_ways };

/// Each pair of adjacent vertices once, at the smaller by (degree, id), without self-loops.
/// Contains the rows of this rank's vertices, in ascending order.
///
/// Degrees include duplicate edges and self-loops: any order is valid if all ranks use the same.
///
/// Collective  constructor
template <class Id>
class oriented_rows {
 public:
  /// Entries that may be read past a row's end; their values are unspecified vertex ids.
  static constexpr std::size_t readable_beyond = 16;

  oriented_rows(world& w, const graph::dist_csr<Id>& g, kept_pairs pairs = kept_pairs::joined)
      : pairs_(pairs),
        first_(g.out().first()),
        num_rows_(g.out().num_rows()),
        all_(w.size() == 1 ? num_rows_ : 0, w.memory()),
        rows_(num_rows_, w.memory()),
        targets_(edges_before(g, num_rows_) + readable_beyond, w.memory()) {
    g.expect_in();
    CAIRN_EXPECTS(g.num_edges() < std::uint64_t{1} << 39);
    find_degrees(w, g);
    orient(w, g);
  }

  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::size_t size() const noexcept { return num_rows_; }
  [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }
  /// Number of entries of these rows.
  [[nodiscard]] std::uint64_t num_edges() const noexcept { return num_edges_; }
  /// Degree of any vertex of any rank.
  [[nodiscard]] std::uint32_t degree(std::uint64_t v) const noexcept { return degrees_[v]; }

  /// The row of vertex first() + i.
  [[nodiscard, gnu::always_inline]] std::span<const Id> row(std::size_t i) const noexcept {
    return {targets_.data() + (rows_[i] >> size_bits), rows_[i] & size_mask};
  }
  [[gnu::always_inline]] void prefetch_row(std::size_t i) const noexcept {
    __builtin_prefetch(targets_.data() + (rows_[i] >> size_bits));
  }
  [[gnu::always_inline]] void prefetch_offset(std::size_t i) const noexcept {
    __builtin_prefetch(rows_.data() + i);
  }

  /// For each row with at least two entries, calls f(worker, v, row, local, part) on each rank that
  /// owns one of them. v's row is sent there once. `local` is the part of the row that the rank
  /// owns, `part` is v's row in `subset`, which keeps some of these pairs. Collective. Opens an
  /// epoch.
  template <class F>
  void visit(world& w, const pgas::partition& partition, F&& f,
             const oriented_rows* subset = nullptr) const {
    // A vertex, followed by its row and the part of it that the subset keeps.
    task::per_worker<std::vector<Id>> records(w.workers());
    const auto arrive = [&](worker_t k) {
      const auto all = std::span<const Id>(records[k]).subspan(1);
      const auto row = subset == nullptr ? all : ascending_part(all);
      const auto begin = std::lower_bound(row.begin(), row.end(), first_);
      f(k, records[k][0], row,
        std::span(begin, std::lower_bound(begin, row.end(), first_ + num_rows_)),
        all.subspan(row.size()));
    };
    am::record_channel channel(w, [&](worker_t k, am::record_batch batch) {
      for (const auto bytes : batch) {
        records[k].resize(bytes.size() / sizeof(Id));
        std::memcpy(records[k].data(), bytes.data(), bytes.size());
        arrive(k);
      }
    });
    am::epoch epoch(w);
    for_ranges(w, [&](worker_t k, std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) {
        if (row(i).size() < 2) continue;
        auto& record = records[k];
        record.assign({static_cast<Id>(first_ + i)});
        record.insert(record.end(), row(i).begin(), row(i).end());
        if (subset != nullptr) {
          record.insert(record.end(), subset->row(i).begin(), subset->row(i).end());
        }
        for (auto at = row(i).begin(); at != row(i).end();) {
          const auto owner = partition.owner(*at);
          if (owner != w.rank()) channel.send(k, owner, std::as_bytes(std::span(record)));
          at = std::lower_bound(at, row(i).end(), partition.last(owner));
        }
        arrive(k);
      }
    });
    epoch.close();
  }

  /// Calls f(worker, first, last) for ranges of rows.
  template <class F>
  void for_ranges(world& w, F&& f) const {
    traverse::for_edge_ranges(
        w, num_rows_, targets_.size(), longest_,
        [this](std::size_t i) { return rows_[i] >> size_bits; }, f);
  }

 private:
  // A row is stored as start and size. The size is below sqrt(2 * number of edges).
  static constexpr int size_bits = 24;
  static constexpr std::uint64_t size_mask = (1 << size_bits) - 1;

  static std::uint64_t edges_before(const graph::dist_csr<Id>& g, std::size_t i) {
    if (g.out().num_rows() == 0 || !g.has_in()) return 0;
    const auto of = [&](const graph::csr<Id>& rows) {
      return rows.offsets()[i] - rows.offsets()[0];
    };
    return of(g.out()) + (g.directed() ? of(g.in()) : 0);
  }

  void find_degrees(world& w, const graph::dist_csr<Id>& g) {
    if (w.size() > 1) gathered_.resize(num_rows_);
    auto* const own = w.size() > 1 ? gathered_.data() : all_.data();
    w.parallel_for(num_rows_, [&](worker_t, std::size_t begin, std::size_t end) {
      // One less than the maximum: the order adds 1 to break ties.
      constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max() - 1;
      for (auto i = begin; i < end; ++i) {
        own[i] =
            static_cast<std::uint32_t>(std::min(max, edges_before(g, i + 1) - edges_before(g, i)));
      }
    });
    if (w.size() > 1) gathered_ = w.all_gather_values<std::uint32_t>(gathered_);
    degrees_ = w.size() > 1 ? gathered_.data() : all_.data();
  }

  void orient(world& w, const graph::dist_csr<Id>& g) {
    struct state {
      std::uint64_t longest = 0, edges = 0;
      std::vector<Id> out, in;
    };
    task::per_worker<state> states(w.workers());
    const auto edges = edges_before(g, num_rows_);
    const double ns_each = 5 + 4 * static_cast<double>(edges) / static_cast<double>(num_rows_ + 1);
    w.parallel_for(
        num_rows_,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto* to = targets_.data() + edges_before(g, begin);
          auto longest = states[k].longest;
          const auto* const begin_of_all = to;
          for (auto i = begin; i < end; ++i) {
            auto* const at = to;
            to = g.directed() ? keep_both(g, first_ + i, to, states[k].out, states[k].in)
                              : keep(g.out().neighbors(first_ + i), first_ + i, to);
            const auto size = static_cast<std::uint64_t>(to - at);
            rows_[i] = static_cast<std::uint64_t>(at - targets_.data()) << size_bits | size;
            longest = std::max(longest, size);
          }
          states[k].longest = longest;
          states[k].edges += static_cast<std::uint64_t>(to - begin_of_all);
          // Readers past the last row must find a valid vertex.
          auto* const limit =
              targets_.data() + (end == num_rows_ ? targets_.size() : edges_before(g, end));
          for (std::size_t i = 0; i < readable_beyond && to < limit; ++i) {
            *to++ = static_cast<Id>(first_ + begin);
          }
        },
        traverse::chunk_of(w, num_rows_, ns_each));
    for (const auto& s : states) {
      longest_ = std::max(longest_, s.value.longest);
      num_edges_ += s.value.edges;
    }
  }

  // Writes the kept part of v's row. Branch-free, because branches would be unpredictable.
  Id* keep(std::span<const Id> row, std::uint64_t v, Id* to) const {
    auto last = no_vertex<Id>;
    const auto* const degrees = degrees_;
    const auto degree = degrees[v];
    for (const Id u : row) {
      *to = u;
      to += static_cast<unsigned>(degrees[u] + (u > v ? 1 : 0) > degree) &
            static_cast<unsigned>(u != last);
      last = u;
    }
    return to;
  }
  Id* keep_both(const graph::dist_csr<Id>& g, std::uint64_t v, Id* to, std::vector<Id>& out,
                std::vector<Id>& in) const {
    const auto kept = [&](std::span<const Id> row, std::vector<Id>& list) {
      if (list.size() <= row.size()) list.resize(row.size() + 1);
      return std::span(list.data(), keep(row, v, list.data()));
    };
    const auto a = kept(g.out().neighbors(v), out), b = kept(g.in().neighbors(v), in);
    if (pairs_ == kept_pairs::joined) {
      return std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
    }
    return std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
  }

  kept_pairs pairs_;
  std::uint64_t first_;
  std::size_t num_rows_;
  std::vector<std::uint32_t> gathered_;  // degrees, on several ranks
  hw::page_buffer<std::uint32_t> all_;   // degrees, on one rank
  const std::uint32_t* degrees_ = nullptr;
  hw::page_buffer<std::uint64_t> rows_;
  hw::page_buffer<Id> targets_;
  std::uint64_t longest_ = 0, num_edges_ = 0;
};

}  // namespace cairn::algo
