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

/// A row that visits a rank.
template <class Id>
struct row_visit {
  Id v;                            ///< its vertex
  std::span<const Id> row, local;  ///< and the wanted entries that the rank owns: at least one
  std::span<const Id> part;        ///< v's row in the subset
};

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
  [[nodiscard]] bool owns(std::uint64_t v) const noexcept { return v - first_ < num_rows_; }
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

  /// Each row with at least two entries visits the ranks that own entries u of it for which
  /// wanted(u): calls f(worker, visits) there for groups of rows. A row is sent to a rank once.
  ///
  /// wanted      the same on all ranks
  /// opt         of the channel: whether f sends
  /// subset      keeps some of these pairs; its rows travel along
  /// Collective. Opens an epoch.
  template <class Wanted, class F>
  void visit(world& w, const pgas::partition& partition, Wanted&& wanted, F&& f,
             const am::channel_options& opt = {}, const oriented_rows* subset = nullptr) const {
    task::per_worker<visit_group> groups(w.workers());
    const auto arrive = [&](worker_t k, am::record_batch batch) {
      auto& group = groups[k];
      std::size_t ids = 0;
      for (const auto bytes : batch) ids += bytes.size() / sizeof(Id);
      group.begin(ids);
      group.received.resize(std::max(group.received.size(), ids + readable_beyond));
      auto* at = group.received.data();
      for (const auto bytes : batch) {
        std::memcpy(at, bytes.data(), bytes.size());
        const std::span<const Id> all(at + 1, bytes.size() / sizeof(Id) - 1);
        const auto row = subset == nullptr ? all : ascending_part(all);
        add_to(group, *at, row, all.subspan(row.size()), wanted);
        at += all.size() + 1;
      }
      f(k, group.end(first_));
    };
    am::record_channel channel(w, arrive, opt);
    am::epoch epoch(w);
    for_ranges(w, [&](worker_t k, std::size_t first, std::size_t last) {
      auto& group = groups[k];
      std::size_t ids = 0;
      for (auto i = first; i < last; ++i) ids += row(i).size();
      group.begin(ids);
      for (auto i = first; i < last; ++i) {
        if (row(i).size() < 2) continue;
        const auto part = subset == nullptr ? std::span<const Id>() : subset->row(i);
        add_to(group, static_cast<Id>(first_ + i), row(i), part, wanted);
        group.sent.clear();
        std::uint64_t seen = 0;  // owners of vertices before it have been looked at
        for (const Id u : row(i)) {
          if (u < seen || !wanted(u)) continue;
          const auto owner = partition.owner(u);
          seen = partition.last(owner);
          if (owner == w.rank()) continue;
          if (group.sent.empty()) {
            group.sent.push_back(static_cast<Id>(first_ + i));
            group.sent.insert(group.sent.end(), row(i).begin(), row(i).end());
            group.sent.insert(group.sent.end(), part.begin(), part.end());
          }
          channel.send(k, owner, std::as_bytes(std::span(group.sent)));
        }
      }
      f(k, group.end(first_));
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

  // Rows that a worker visits together, so that it can prefetch what later ones need.
  struct visit_group {
    std::vector<Id> received;  // copies of vertices, their rows and their parts
    std::vector<Id> sent;      // one of these
    std::vector<Id> local;     // of all rows
    Id* local_end = nullptr;
    std::vector<row_visit<Id>> visits;

    void begin(std::size_t num_ids) {
      local.resize(std::max(local.size(), num_ids + readable_beyond));
      local_end = local.data();
      visits.clear();
    }
    std::span<const row_visit<Id>> end(std::uint64_t first_own) {
      std::fill_n(local_end, readable_beyond, static_cast<Id>(first_own));
      return visits;
    }
  };

  // Branch-free, because branches on owners would be unpredictable.
  void add_to(visit_group& group, Id v, std::span<const Id> row, std::span<const Id> part,
              auto& wanted) const {
    auto* const begin = group.local_end;
    auto* end = begin;
    for (const Id u : row) {
      *end = u;
      end += static_cast<unsigned>(owns(u)) & static_cast<unsigned>(wanted(u));
    }
    group.local_end = end;
    if (end != begin) group.visits.push_back({v, row, {begin, end}, part});
  }

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
