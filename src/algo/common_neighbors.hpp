// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/record_channel.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/oriented_rows.hpp"

namespace cairn::algo {

/// A list is searched for each entry of another one that is so many times shorter.
inline constexpr std::size_t much_shorter = 16;

/// The number of entries that two ascending lists have in common.
template <class Id>
[[nodiscard]] std::uint64_t num_common(std::span<const Id> a, std::span<const Id> b) {
  if (a.size() > b.size()) std::swap(a, b);
  std::uint64_t found = 0;
  auto at = b.begin();
  for (const Id x : a) {
    if (much_shorter * a.size() < b.size()) {
      at = std::lower_bound(at, b.end(), x);
    } else {
      while (at != b.end() && *at < x) ++at;
    }
    if (at == b.end()) break;
    found += *at == x ? 1 : 0;
  }
  return found;
}

/// The ordered pairs (x, y) of neighbors of a vertex that are counted: adjacent ones, so that each
/// triangle counts twice, or those with an edge x -> y.
enum class joined_by { any_edge, edge_from_first };

/// Counts pairs of neighbors at each vertex of this rank. A vertex x sends its row to the owners
/// of its neighbors, which intersect it with the row of each.
///
/// Collective  constructor
template <class Id>
class common_neighbor_counts {
 public:
  common_neighbor_counts(world& w, const graph::dist_csr<Id>& g, joined_by pairs)
      : g_(g),
        with_arcs_(pairs == joined_by::edge_from_first),
        counts_(w, g.partition(), 0),
        buffers_(w.workers()) {
    am::record_channel channel(w, [this](worker_t k, am::record_batch batch) {
      for (const auto bytes : batch) {
        auto& row = buffers_[k].row;
        row.resize(bytes.size() / sizeof(Id));
        std::memcpy(row.data(), bytes.data(), bytes.size());
        intersect_with_local_rows(k, row);
      }
    });
    constexpr double ns_of_vertex = 10'000;  // a row is merged with those of all its entries
    row_sender rows{channel};
    traverse::push_ranges(
        w, rows, counts_.local().size(),
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          for (auto v = counts_.first() + begin; v < counts_.first() + end; ++v) {
            auto& row = buffers_[k].row;
            find_row(v, row);
            const auto degree = row.size();
            if (with_arcs_ && !add_targets(v, row)) continue;
            const auto row_end = row.begin() + static_cast<std::ptrdiff_t>(degree);
            for (auto at = row.begin(); at != row_end;) {
              const auto owner = g.partition().owner(*at);
              if (owner != w.rank()) send(owner, row);
              at = std::lower_bound(at, row_end, g.partition().last(owner));
            }
            intersect_with_local_rows(k, row);
          }
          return std::uint64_t{0};
        },
        traverse::chunk_of(w, counts_.local().size(), ns_of_vertex));
  }

  [[nodiscard]] const pgas::vertex_map<std::uint64_t>& of_vertex() const noexcept {
    return counts_;
  }
  /// The number of neighbors of a vertex of this rank.
  [[nodiscard]] std::uint64_t degree(std::uint64_t v) const {
    std::vector<Id> row;
    find_row(v, row);
    return row.size();
  }

 private:
  struct row_buffers {
    std::vector<Id> row, own;
  };
  struct row_sender {
    am::record_channel& channel;
    auto from(worker_t k) const {
      return [this, k](rank_t to, const std::vector<Id>& row) {
        channel.send(k, to, std::as_bytes(std::span(row)));
      };
    }
  };

  void find_row(std::uint64_t v, std::vector<Id>& row) const {
    const auto out = g_.out().neighbors(v);
    row.assign(out.begin(), out.end());
    if (g_.directed()) {
      const auto in = g_.in().neighbors(v);
      row.insert(row.end(), in.begin(), in.end());
      std::sort(row.begin(), row.end());
    }
    row.erase(std::unique(row.begin(), row.end()), row.end());
    row.erase(std::remove(row.begin(), row.end(), static_cast<Id>(v)), row.end());
  }

  // Appends the targets of v's edges, if there are any.
  bool add_targets(std::uint64_t v, std::vector<Id>& row) const {
    const auto degree = row.size();
    traverse::each_distinct(g_.out().neighbors(v), [&](Id u) {
      if (u != v) row.push_back(u);
    });
    return row.size() > degree;
  }

  // Intersects a vertex's row, or the targets after it, with the rows of its neighbors on this
  // rank.
  void intersect_with_local_rows(worker_t k, std::span<const Id> sent) {
    const auto row = with_arcs_ ? ascending_part(sent) : sent;
    const auto counted = with_arcs_ ? sent.subspan(row.size()) : row;
    auto at = std::lower_bound(row.begin(), row.end(), counts_.first());
    for (; at != row.end() && counts_.owns(*at); ++at) {
      std::uint64_t found = 0;
      if (much_shorter * counted.size() < degree_bound(*at)) {
        found = num_neighbors(*at, counted);
      } else {
        auto& own = buffers_[k].own;
        find_row(*at, own);
        found = num_common<Id>(counted, own);
      }
      std::atomic_ref(counts_.at(*at).element()).fetch_add(found, std::memory_order_relaxed);
    }
  }

  std::uint64_t degree_bound(Id v) const {
    return g_.out().degree(v) + (g_.directed() ? g_.in().degree(v) : 0);
  }
  // How many of the given vertices are neighbors of v, without a copy of v's row.
  std::uint64_t num_neighbors(Id v, std::span<const Id> of) const {
    const auto has = [](std::span<const Id> row, Id x) {
      return std::binary_search(row.begin(), row.end(), x);
    };
    return static_cast<std::uint64_t>(std::count_if(of.begin(), of.end(), [&](Id x) {
      return x != v &&
             (has(g_.out().neighbors(v), x) || (g_.directed() && has(g_.in().neighbors(v), x)));
    }));
  }

  const graph::dist_csr<Id>& g_;
  const bool with_arcs_;
  pgas::vertex_map<std::uint64_t> counts_;
  task::per_worker<row_buffers> buffers_;
};

}  // namespace cairn::algo
