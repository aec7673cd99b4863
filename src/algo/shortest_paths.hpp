// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/ordered_work.hpp>
#include <cairn/traverse/rows.hpp>
#include <cairn/traverse/weighted_rows.hpp>
#include <cairn/traverse/worklist.hpp>

namespace cairn::algo {

/// Of the edges that add up to such distances.
template <class Distance>
using weight_of = std::conditional_t<std::is_integral_v<Distance>, std::int32_t, double>;

/// The state of a search for shortest paths, and its step: to relax the edges of vertices.
template <class Id, class Distance>
struct shortest_paths {
  using weight = weight_of<Distance>;
  using entry = traverse::reached_vertex<Id, Distance>;

  struct relax {  // the operator, of an edge's target; may fail
    struct message {
      Id v;
      Distance distance;
    };
    static constexpr bool permanent = true;

    pgas::vertex_view<Distance> distances;
    traverse::ordered_work<entry>& work;

    auto cell(const message& m) const { return distances.at(m.v); }
    bool wanted(Distance d, const message& m) const { return m.distance < d; }
    bool attempt(auto cell, const message& m) const { return m.distance < cell.lower(m.distance); }
    void after(const message& m, auto& at) { work.add(at.worker(), {m.v, m.distance}); }
  };

  shortest_paths(world& world, const graph::dist_csr<Id>& g, const activity::options& opt,
                 double longest, double width)
      : w(world),
        rows(g.out()),
        distance(w, g.partition(), unreached<Distance>),
        view(distance.view()),
        furthest(furthest_to_extend(longest)),
        work(w, width),
        relaxations(w, relax{view, work}, opt),
        counts(w.workers()) {}

  void start(Id source) {
    if (!distance.owns(source)) return;
    distance.store(source, 0);
    work.add(worker_t(0), {source, 0});
  }

  /// What was found, or nothing if a distance does not fit its type. Collective.
  [[nodiscard]] std::optional<sssp_result<Distance>> result(sssp_method by, double delta,
                                                            std::uint64_t buckets) {
    count all;
    for (const auto& k : counts) {
      all.relaxations += k.value.relaxations;
      all.improvements += k.value.improvements;
      all.too_far = all.too_far || k.value.too_far;
    }
    if (w.any(all.too_far)) return std::nullopt;
    const auto relaxed = w.sum(all.relaxations), improved = w.sum(all.improvements);
    return sssp_result<Distance>{
        std::move(distance), std::nullopt, enum_name(by), delta, buckets, relaxed, improved,
        relaxations.ran()};
  }

  [[nodiscard]] bool is_current(const entry& e) const {
    return tm::load_cell(view.element(e.vertex)) == e.distance;
  }

  /// The weights of edges to relax: more than `from`, and at most `to`.
  struct range {
    double from, to;
  };

  /// Relaxes the edges of those entries that are still current, on worker k.
  ///
  /// next      entries that may follow
  void expand(worker_t k, std::span<const entry> entries, std::span<const entry> next) {
    counts[k].improvements += entries.size();
    expand_along(k, entries, next, [](weight) { return true; });
  }
  /// The same for some of the edges; current entries are added to `kept`, if it is there.
  void expand(worker_t k, std::span<const entry> entries, range some,
              traverse::worklist<entry>* kept) {
    if (kept) counts[k].improvements += entries.size();
    expand_along(
        k, entries, {},
        [some](weight x) {
          return static_cast<double>(x) > some.from && static_cast<double>(x) <= some.to;
        },
        kept);
  }

  struct count {
    std::uint64_t relaxations = 0, improvements = 0;
    bool too_far = false;  // a distance that may not be added to
  };

  world& w;
  const traverse::weighted_rows<Id, weight> rows;
  pgas::vertex_map<Distance> distance;
  const pgas::vertex_view<Distance> view;
  const Distance furthest;
  traverse::ordered_work<entry> work;
  activity::executor<relax> relaxations;
  task::per_worker<count> counts;

 private:
  template <class Wanted>
  void expand_along(worker_t k, std::span<const entry> entries, std::span<const entry> next,
                    Wanted&& wanted, traverse::worklist<entry>* kept = nullptr) {
    std::uint64_t relaxed = 0;
    relaxations.spawn(k, [&](auto& send) {
      std::uint64_t sent = 0;
      const auto edges = rows;
      const auto n = entries.size();
      for (const auto& e : next.first(std::min(next.size(), traverse::offset_ahead))) {
        edges.prefetch_offset(e.vertex);
      }
      for (std::size_t i = 0; i < n && i < traverse::row_ahead; ++i) {
        edges.prefetch_row(entries[i].vertex);
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (i + traverse::offset_ahead < n) {
          edges.prefetch_offset(entries[i + traverse::offset_ahead].vertex);
        }
        if (i + traverse::row_ahead < n) {
          edges.prefetch_row(entries[i + traverse::row_ahead].vertex);
        }
        const auto e = entries[i];
        if (!is_current(e)) continue;
        if (e.distance > furthest) [[unlikely]] {
          counts[k].too_far = true;
          continue;
        }
        if (kept) kept->add(k, e);
        edges.each_edge(e.vertex, [&](Id u, weight x) {
          if (!wanted(x)) return;
          ++sent;
          send({u, static_cast<Distance>(e.distance + static_cast<Distance>(x))});
        });
      }
      relaxed = sent;
    });
    counts[k].relaxations += relaxed;
    w.counters().add(k, obs::counter::edges, relaxed);
  }

  // From which every edge can be added without exceeding what a distance may be.
  static Distance furthest_to_extend(double longest) {
    if constexpr (std::is_integral_v<Distance>) {
      return static_cast<Distance>(unreached<Distance> - 1 - static_cast<Distance>(longest));
    } else {
      return unreached<Distance>;
    }
  }
};

}  // namespace cairn::algo
