// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/activity/sieve.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/ordered_work.hpp>
#include <cairn/traverse/weighted_rows.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/dead_ends.hpp"
#include "algo/worker_distances.hpp"

namespace cairn::algo {

/// The type of weights whose sums are distances of this type.
template <class Distance>
using weight_of = std::conditional_t<std::is_integral_v<Distance>, std::int32_t, double>;

/// Why a search ran without atomic instructions on several workers.
inline constexpr std::string_view own_tables = "each worker lowers distances of its own";

/// The state of a search for shortest paths, and its basic step, which relaxes the edges of
/// vertices.
template <class Id, class Distance>
struct shortest_paths {
  using weight = weight_of<Distance>;
  using distance_type = Distance;
  using entry = traverse::reached_vertex<Id, Distance>;
  using batch = typename traverse::ordered_work<entry>::batch;

  struct relax {  // the operator on the target of an edge; may fail
    struct message {
      Id v;
      Distance distance;
    };
    static constexpr bool permanent = true, prefiltered = true;

    pgas::vertex_view<Distance> distances;
    traverse::ordered_work<entry>& work;
    dead_ends::view ends;

    auto cell(const message& m) const { return distances.at(m.v); }
    bool wanted(Distance d, const message& m) const { return m.distance < d; }
    bool attempt(auto cell, const message& m) const { return m.distance < cell.lower(m.distance); }
    void after(const message& m, auto& at) {
      if (!ends[m.v]) work.add(at.worker(), {m.v, m.distance});
    }
  };

  using edges = traverse::weighted_rows<Id, weight>;

  /// Whether workers may lower distances in tables of their own.
  [[nodiscard]] static bool may_use_tables(world& w, const activity::options& opt) {
    const auto used = activity::with_settings(w, opt);
    return w.size() == 1 && w.workers() > 1 &&
           w.workers() <= worker_distances<Distance>::max_workers &&
           used.mechanism == activity::mechanism::automatic && used.grain == 0;
  }

  /// out       the graph's out-edges, in any order
  /// tables    workers lower distances in tables of their own
  /// skipped   vertices that are not expanded, except the source; nullptr: none
  shortest_paths(world& world, const graph::dist_csr<Id>& g, const edges& out,
                 const activity::options& opt, double longest, double width, bool tables,
                 const dead_ends* skipped = nullptr)
      : w(world),
        rows(out),
        distance(w, g.partition(), unreached<Distance>),
        view(distance.view()),
        furthest(furthest_to_extend(longest)),
        ordered(std::isfinite(width)),
        work(w, width),
        ends(skipped),
        relaxations(w, relax{view, work, ends}, opt),
        counts(w.workers()) {
    if (!tables) return;
    CAIRN_EXPECTS(may_use_tables(w, opt));
    own.emplace(w, distance);
    // Filling a table takes about as long as expanding one entry per 128 vertices.
    constexpr std::uint64_t vertices_per_entry = 128;
    work.share_after(distance.size() / vertices_per_entry);
  }

  void start(Id source) {
    if (!distance.owns(source)) return;
    distance.store(source, 0);
    work.add(worker_t(0), {source, 0});
  }

  /// The result, or nothing if a distance does not fit its type. Collective.
  [[nodiscard]] std::optional<sssp_result<Distance>> result(sssp_method by, double delta,
                                                            std::uint64_t buckets) {
    count all;
    for (const auto& k : counts) {
      all.relaxations += k.value.relaxations;
      all.improvements += k.value.improvements;
      all.too_far = all.too_far || k.value.too_far;
    }
    if (w.any(all.too_far)) return std::nullopt;
    gather();
    const auto relaxed = w.sum(all.relaxations), improved = w.sum(all.improvements);
    return sssp_result<Distance>{
        std::move(distance), std::nullopt, enum_name(by), delta, buckets, relaxed, improved, ran()};
  }

  /// Writes the distances that all workers found to `distance`. Called between runs.
  void gather() {
    if (own) own->gather();
  }

  /// The smallest distance of v that worker k knows of, on one rank.
  [[nodiscard]] Distance found(worker_t k, Id v) {
    return own ? own->of(k).least(v) : tm::load_cell(view.element(v));
  }

  /// Which edges to relax.
  ///
  /// from      edges with larger weights than this
  /// to        without `radius`: the largest weight; with `radius`: the largest distance that a
  ///           target may get
  /// radius    at most `to`, or `to` + 1 for integers; all edges of entries at this distance or
  ///           further are relaxed
  struct range {
    weight from;
    Distance to;
    std::optional<Distance> radius = {};

    [[nodiscard]] weight max_weight(const entry& e) const {
      if (!radius) return weight_within(to);
      return weight_within(e.distance < *radius ? to - e.distance : unreached<Distance>);
    }
  };
  /// The largest weight that is at most x.
  [[nodiscard]] static weight weight_within(Distance x) {
    constexpr auto max_weight = traverse::no_weight<weight>;
    if constexpr (std::is_integral_v<Distance>) {
      return static_cast<weight>(std::min(x, static_cast<Distance>(max_weight)));
    } else {
      return std::min(x, max_weight);
    }
  }

  [[nodiscard]] static weight weight_within_real(double x) {
    return static_cast<weight>(std::min(x, static_cast<double>(traverse::no_weight<weight>)));
  }

  /// Relaxes the edges of those entries that are still current, on worker k.
  void expand(worker_t k, batch& entries) {
    expand_along<true>(
        k, entries,
        [](const edges& of, const current_entry& e, auto&& relax_edge)
            __attribute__((always_inline)) {
              of.each_edge(e.row, relax_edge);
              return e.row.size;
            });
    counts[k].improvements += entries.size();
  }
  /// expand() for some of the edges.
  ///
  /// kept      current entries are added to it; nullptr: not needed
  void expand(worker_t k, batch& entries, range some, traverse::worklist<entry>* kept = nullptr) {
    expand_along(k, entries, edges_in(some), kept);
    counts[k].improvements += entries.size();
  }
  /// expand() for some of the edges of entries that have been expanded before.
  void expand_again(worker_t k, std::span<const entry> entries, range some) {
    once again{entries};
    expand_along(k, again, edges_in(some));
  }

  struct count {
    std::uint64_t relaxations = 0, improvements = 0;
    bool too_far = false;  // a distance exceeds `furthest`
  };

  world& w;
  const edges rows;
  pgas::vertex_map<Distance> distance;
  const pgas::vertex_view<Distance> view;
  const Distance furthest;
  const bool ordered;  // there are buckets
  traverse::ordered_work<entry> work;
  const dead_ends::view ends;
  activity::executor<relax> relaxations;
  std::optional<worker_distances<Distance>> own;  // used instead of `relaxations` if present
  task::per_worker<count> counts;

 private:
  // Entries that nothing follows.
  struct once {
    std::span<const entry> all;
    [[nodiscard]] std::span<const entry> entries() const { return all; }
    [[nodiscard]] bool extend(auto&& /*handle*/) const { return false; }
  };

  // An entry that is still current, and the edges of its vertex.
  struct current_entry {
    typename edges::row row;
    entry from;
  };
  static constexpr std::size_t at_once = 64, few_entries = 4;
  static constexpr std::uint64_t short_row = 4;  // edges

  // Relaxes some of the edges of an entry; returns their number.
  static auto edges_in(range some) {
    return [some](const edges& of, const current_entry& e, auto&& relax_edge)
        __attribute__((always_inline)) {
      std::uint64_t relaxed = 0;
      of.each_edge_within(
          e.row, some.max_weight(e.from), [&](Id u, weight x) __attribute__((always_inline)) {
            if (!(x > some.from)) return;
            relax_edge(u, x);
            ++relaxed;
          });
      return relaxed;
    };
  }

  // Follows paths of short rows from a few entries, without the queue, which costs more than so few
  // entries. A path ends with its bucket, except the last one: if no entry waits, it goes on as
  // long as its next vertex is in the first bucket. Returns the entries at which paths end because
  // a row is long.
  template <class Current, class Send>
  [[gnu::noinline]] std::span<const entry> follow_paths(worker_t k, std::span<const entry> entries,
                                                        std::array<entry, few_entries>& ends_of,
                                                        std::uint64_t& relaxed,
                                                        const Current& is_current, Send& send) {
    constexpr int max_steps = 64;  // between two polls
    std::size_t n = 0;
    std::uint64_t followed = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto e = entries[i];
      auto bucket = work.bucket_of(e.distance);
      for (int steps = 0;; ++steps) {
        const auto row = rows.row_of(e.vertex);
        if (row.size > short_row || e.distance > furthest || steps == max_steps) {
          ends_of[n++] = e;
          break;
        }
        if (!is_current(e)) break;
        std::optional<entry> next;  // the others enter the queue
        for (auto at = row.begin; at < row.begin + row.size; ++at) {
          const auto x = rows.edge_at(at);
          const entry u{x.target,
                        static_cast<Distance>(e.distance + static_cast<Distance>(x.weight))};
          if (!send.succeeds({u.vertex, u.distance}) || ends[u.vertex]) continue;
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
    counts[k].improvements += followed;
    return {ends_of.data(), n};
  }

  // whole_rows    each_of relaxes all edges, so paths may be followed
  template <bool whole_rows = false, class Entries, class Each>
  void expand_along(worker_t k, Entries& entries, Each&& each_of,
                    traverse::worklist<entry>* kept = nullptr) {
    constexpr std::uint64_t few = 128;  // edges
    std::uint64_t relaxed = 0;
    const auto relax_all = [&](const auto& is_current, auto& send) {
      do {
        auto some = entries.entries();
        std::array<entry, few_entries> ends_of_paths;
        if constexpr (whole_rows &&
                      requires(const typename relax::message& m) { send.succeeds(m); }) {
          if (ordered && some.size() <= few_entries &&
              rows.degree(some.front().vertex) <= short_row) {
            some = follow_paths(k, some, ends_of_paths, relaxed, is_current, send);
          }
        }
        relaxed += relax_along(k, some, each_of, kept, is_current, send);
      } while (relaxed < few && entries.extend([&] { send.flush(); }));
      return relaxed;
    };
    if (own) {
      lower_own lowered(k, own->of(k), work, ends);
      relax_all([tables = lowered.tables](
                    const entry& e) { return tables.is_least(e.vertex, e.distance); },
                lowered);
      lowered.flush();
    } else {
      relaxations.spawn(k, [&](auto& send) {
        return relax_all(
            [at = view](const entry& e) {
              return tm::load_cell(at.element(e.vertex)) == e.distance;
            },
            send);
      });
    }
    counts[k].relaxations += relaxed;
    w.counters().add(k, obs::counter::edges, relaxed);
  }

  // Lowers distances in the tables of worker k. Whether an edge is useful is unpredictable, so
  // edges pass a sieve.
  struct lower_own {
    using message = typename relax::message;
    lower_own(worker_t k, const typename worker_distances<Distance>::tables& t,
              traverse::ordered_work<entry>& to, dead_ends::view skipped)
        : worker(k), tables(t), work(to), ends(skipped) {}

    // As lane::in_loop.
    struct in_loop {
      using is_short = std::true_type;
      explicit in_loop(lower_own& l) : all(l), tables(l.tables), held(l.held) {}
      ~in_loop() { all.held = held; }
      in_loop(const in_loop&) = delete;
      in_loop& operator=(const in_loop&) = delete;
      [[gnu::always_inline]] void operator()(const message& m) {
        held = all.sieve.add(held, m, tables.improves(m.v, m.distance));
        if (held < all.sieve.capacity) [[likely]]
          return;
        all.held = std::exchange(held, 0);
        all.flush();
      }
      lower_own& all;
      const typename worker_distances<Distance>::tables tables;
      std::size_t held;
    };
    // As lane::succeeds.
    [[nodiscard]] bool succeeds(const message& m) { return tables.lower(m.v, m.distance); }
    [[gnu::noinline]] void flush() {
      for (const auto& m : sieve.messages(std::exchange(held, 0))) {
        if (tables.lower(m.v, m.distance) && !ends[m.v]) work.add(worker, {m.v, m.distance});
      }
    }

    const worker_t worker;
    const typename worker_distances<Distance>::tables tables;
    traverse::ordered_work<entry>& work;
    const dead_ends::view ends;
    activity::sieve<message> sieve;
    std::size_t held = 0;  // messages of the sieve
  };

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
  [[gnu::always_inline]] std::uint64_t relax_along(worker_t k, std::span<const entry> entries,
                                                   Each& each_of, traverse::worklist<entry>* kept,
                                                   const Current& is_current, Send& send) {
    std::uint64_t sent = 0;
    std::array<current_entry, at_once> some;
    const auto of = rows;
    typename Send::in_loop to(send);
    while (!entries.empty()) {
      const auto part = entries.first(std::min(entries.size(), at_once));
      entries = entries.subspan(part.size());
      const auto n = look_up(k, of, part, some, is_current);
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
  [[gnu::always_inline]] std::size_t look_up(worker_t k, const edges& of,
                                             std::span<const entry> entries,
                                             std::array<current_entry, at_once>& found,
                                             const Current& is_current) {
    const auto limit = furthest;
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
      counts[k].too_far = true;
    return n;
  }

  [[nodiscard]] activity::ran ran() const {
    if (!own) return relaxations.ran();
    return {activity::mechanism::plain, 1, std::string(own_tables)};
  }

  // The largest distance to which every edge can be added without overflow.
  static Distance furthest_to_extend(double longest) {
    if constexpr (std::is_integral_v<Distance>) {
      return static_cast<Distance>(unreached<Distance> - 1 - static_cast<Distance>(longest));
    } else {
      return unreached<Distance>;
    }
  }
};

}  // namespace cairn::algo
