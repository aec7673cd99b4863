// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/traverse/bucket_queue.hpp>
#include <cairn/traverse/ordered_work.hpp>
#include <cairn/traverse/weighted_rows.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/reached_vertices.hpp"
#include "algo/search_range.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {

/// Relaxes the edges of a batch of entries. Each worker of a search calls it.
///
/// An entry is current if its distance is still the smallest known of its vertex. Only current
/// entries are expanded.
template <class Id, class Distance>
class row_relaxation {
 public:
  using weight = weight_of<Distance>;
  using entry = traverse::reached_vertex<Id, Distance>;
  using batch = typename traverse::ordered_work<entry>::batch;
  using edges = traverse::weighted_rows<Id, weight>;

  struct count {
    std::uint64_t relaxations = 0, improvements = 0;
    bool too_far = false;  // a distance exceeds `furthest`
  };

  /// out       the graph's out-edges, in any order
  /// to        the queues to which `send` adds entries
  /// ordered   there are buckets
  /// furthest  the largest distance to which every edge can be added
  row_relaxation(const edges& out, const reached_vertices<entry>& to, bool ordered,
                 Distance furthest)
      : rows_(out), reached_(to), ordered_(ordered), furthest_(furthest) {}

  /// Relaxes all edges of the entries on worker k, and returns their number. Extends a batch of few
  /// edges. Counts in `mine` what else happens.
  ///
  /// is_current   whether an entry is current
  /// send         has flush() and in_loop, a function object that passes entries on to the
  ///              operator; if it has succeeds(), which runs the operator, paths may be followed
  template <class Current, class Send>
  std::uint64_t relax_all(worker_t k, batch& entries, count& mine, const Current& is_current,
                          Send& send) const {
    const auto each = [](const edges& of, const current_entry& e, auto&& relax_edge)
        __attribute__((always_inline)) {
      of.each_edge(e.row, relax_edge);
      return e.row.size;
    };
    return relax_each<true>(k, entries.entries(), &entries, mine, each, nullptr, is_current, send);
  }
  /// relax_all() for some of the edges.
  ///
  /// kept      current entries are added to it; nullptr: not needed
  template <class Current, class Send>
  std::uint64_t relax_some(worker_t k, batch& entries, count& mine, search_range<Distance> some,
                           traverse::worklist<entry>* kept, const Current& is_current,
                           Send& send) const {
    return relax_each<false>(k, entries.entries(), &entries, mine, edges_in{some}, kept, is_current,
                             send);
  }
  /// relax_some() for a list, which is not extended.
  template <class Current, class Send>
  std::uint64_t relax_some(worker_t k, std::span<const entry> list, count& mine,
                           search_range<Distance> some, const Current& is_current,
                           Send& send) const {
    return relax_each<false>(k, list, nullptr, mine, edges_in{some}, nullptr, is_current, send);
  }

 private:
  // An entry that is still current, and the edges of its vertex.
  struct current_entry {
    typename edges::row row;
    entry from;
  };
  // Relaxes the edges of a row that lie in a range, and returns their number.
  struct edges_in {
    search_range<Distance> some;
    template <class Relax>
    [[gnu::always_inline]] std::uint64_t operator()(const edges& of, const current_entry& e,
                                                    Relax&& relax_edge) const {
      std::uint64_t relaxed = 0;
      of.each_edge_within(
          e.row,
          some.max_weight(e.from.distance), [&](Id u, weight x) __attribute__((always_inline)) {
            if (!(x > some.from)) return;
            relax_edge(u, x);
            ++relaxed;
          });
      return relaxed;
    }
  };
  static constexpr std::size_t at_once = 64, few_entries = 4;
  static constexpr std::uint64_t short_row = 4;  // edges

  // whole_rows    each_of relaxes all edges, so paths may be followed
  template <bool whole_rows, class Each, class Current, class Send>
  [[gnu::always_inline]] std::uint64_t relax_each(worker_t k, std::span<const entry> entries,
                                                  batch* extended, count& mine, const Each& each_of,
                                                  traverse::worklist<entry>* kept,
                                                  const Current& is_current, Send& send) const {
    constexpr std::uint64_t few = 128;  // edges
    std::uint64_t relaxed = 0;
    for (;; entries = extended->entries()) {
      std::array<entry, few_entries> ends_of_paths;
      if constexpr (whole_rows && requires(const entry& e) { send.succeeds(e); }) {
        if (ordered_ && entries.size() <= few_entries &&
            rows_.degree(entries.front().vertex) <= short_row) {
          entries = follow_paths(k, entries, ends_of_paths, relaxed, mine, is_current, send);
        }
      }
      relaxed += relax_rows(k, entries, mine, each_of, kept, is_current, send);
      if (!extended || relaxed >= few || !extended->extend([&] { send.flush(); })) return relaxed;
    }
  }

  // Follows paths of short rows from a few entries, without the queue, which costs more than so few
  // entries. A path ends with its bucket, except the last one: if no entry waits, it goes on as
  // long as its next vertex is in the first bucket. Returns the entries at which paths end because
  // a row is long.
  template <class Current, class Send>
  [[gnu::noinline]] std::span<const entry> follow_paths(worker_t k, std::span<const entry> entries,
                                                        std::array<entry, few_entries>& ends_of,
                                                        std::uint64_t& relaxed, count& mine,
                                                        const Current& is_current,
                                                        Send& send) const {
    constexpr int max_steps = 64;  // between two polls
    auto& work = reached_.work;
    std::size_t n = 0;
    std::uint64_t followed = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto e = entries[i];
      auto bucket = work.bucket_of(e.distance);
      for (int steps = 0;; ++steps) {
        const auto row = rows_.row_of(e.vertex);
        if (row.size > short_row || e.distance > furthest_ || steps == max_steps) {
          ends_of[n++] = e;
          break;
        }
        if (!is_current(e)) break;
        std::optional<entry> next;  // the others enter the queue
        for (auto at = row.begin; at < row.begin + row.size; ++at) {
          const auto x = rows_.edge_at(at);
          const entry u{x.target,
                        static_cast<Distance>(e.distance + static_cast<Distance>(x.weight))};
          if (!send.succeeds(u) || reached_.ends[u.vertex]) continue;
          if (next) work.add(k, *next);
          next = u;
        }
        relaxed += row.size;
        if (!next) break;
        const auto b = work.bucket_of(next->distance);
        const bool entries_wait = n > 0 || i + 1 < entries.size();
        if (b != bucket && (entries_wait || !work.is_next(k, b))) {
          work.add(k, *next);
          break;
        }
        ++followed;
        bucket = b;
        e = *next;
      }
    }
    mine.improvements += followed;
    return {ends_of.data(), n};
  }

  // Relaxes an edge of a vertex.
  template <class To>
  struct edge_step {
    using is_short = typename To::is_short;
    To& to;
    const Distance distance;  // of the vertex
    [[gnu::always_inline]] void operator()(Id u, weight x) const {
      to({u, static_cast<Distance>(distance + static_cast<Distance>(x))});
    }
  };

  // Returns the number of edges. First all rows are looked up, then relaxed: a processor overlaps
  // the memory accesses of a short loop without unpredictable branches.
  template <class Each, class Current, class Send>
  [[gnu::always_inline]] std::uint64_t relax_rows(worker_t k, std::span<const entry> entries,
                                                  count& mine, const Each& each_of,
                                                  traverse::worklist<entry>* kept,
                                                  const Current& is_current, Send& send) const {
    std::uint64_t sent = 0;
    std::array<current_entry, at_once> some;
    const auto of = rows_;
    typename Send::in_loop to(send);
    while (!entries.empty()) {
      const auto part = entries.first(std::min(entries.size(), at_once));
      entries = entries.subspan(part.size());
      const auto n = look_up(of, part, some, mine, is_current);
      for (std::size_t i = 0; i < n; ++i) {
        const auto& e = some[i];
        if (kept) kept->add(k, e.from);
        sent += each_of(of, e, edge_step<typename Send::in_loop>{to, e.from.distance});
      }
    }
    return sent;
  }

  // Finds the entries that are current and have edges, and prefetches these. Returns their number.
  template <class Current>
  [[gnu::always_inline]] std::size_t look_up(const edges& of, std::span<const entry> entries,
                                             std::array<current_entry, at_once>& found, count& mine,
                                             const Current& is_current) const {
    const auto limit = furthest_;
    bool too_far = false;
    std::size_t n = 0;
    for (const auto& e : entries) {
      const auto row = of.row_of(e.vertex);
      of.prefetch(row);
      found[n] = {row, e};
      const bool expands = is_current(e) & (row.size > 0), beyond = e.distance > limit;
      too_far |= expands & beyond;
      n += expands & !beyond;
    }
    if (too_far) [[unlikely]]
      mine.too_far = true;
    return n;
  }

  const edges rows_;
  const reached_vertices<entry> reached_;
  const bool ordered_;
  const Distance furthest_;
};

}  // namespace cairn::algo
