// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/traverse/bucket_queue.hpp>
#include <cairn/traverse/ordered_work.hpp>
#include <cairn/traverse/rows.hpp>
#include <cairn/traverse/weighted_rows.hpp>

namespace cairn::algo {

/// Edges by their weights.
enum class edges_of { any_weight, light, heavy };

/// The state of a search for shortest paths, and its step: to relax the edges of vertices.
template <class Id, class Distance, template <class> class QueueOf>
struct shortest_paths {
  using distance_type = Distance;
  using weight = std::conditional_t<std::is_integral_v<Distance>, std::int32_t, double>;
  using entry = traverse::reached_vertex<Id, Distance>;
  using queue = QueueOf<entry>;

  struct relax {  // the operator, of an edge's target; may fail
    struct message {
      Id v;
      Distance distance;
    };
    static constexpr bool permanent = true;

    pgas::vertex_view<Distance> distances;
    traverse::ordered_work<queue>& work;

    auto cell(const message& m) const { return distances.at(m.v); }
    bool wanted(Distance d, const message& m) const { return m.distance < d; }
    bool attempt(auto cell, const message& m) const { return m.distance < cell.lower(m.distance); }
    void after(const message& m, auto& at) { work.add(at.worker(), {m.v, m.distance}); }
  };

  template <class MakeQueue>
  shortest_paths(world& world, const graph::dist_csr<Id>& g, const activity::options& opt,
                 const edge_lengths& lengths, MakeQueue&& make_queue)
      : w(world),
        rows(g.out()),
        distance(w, g.partition(), unreached<Distance>),
        view(distance.view()),
        furthest(furthest_to_extend(lengths.longest)),
        work(w, make_queue),
        relaxations(w, relax{view, work}, opt),
        counts(w.workers()) {}

  void start(Id source) {
    if (!distance.owns(source)) return;
    distance.store(source, 0);
    work.add(worker_t(0), {source, 0});
  }

  [[nodiscard]] bool is_current(const entry& e) const {
    return tm::load_cell(view.element(e.vertex)) == e.distance;
  }

  /// Relaxes the edges of those entries that are still current, on worker k.
  ///
  /// next      entries that may follow
  /// kept      kept(e) is called for each entry that is current
  template <edges_of Which, class Kept>
  void expand(worker_t k, std::span<const entry> entries, std::span<const entry> next, Kept&& kept,
              double delta = 0) {
    auto& mine = counts[k];
    std::uint64_t relaxed = 0;
    relaxations.spawn(k, [&](auto& send) {
      const auto edges = rows;
      const auto n = entries.size();
      for (const auto& e : next) edges.prefetch_offset(e.vertex);
      for (std::size_t i = 0; i < n && i < traverse::row_ahead; ++i) {
        edges.prefetch_row(entries[i].vertex);
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (i + traverse::row_ahead < n)
          edges.prefetch_row(entries[i + traverse::row_ahead].vertex);
        const auto e = entries[i];
        if (!is_current(e)) continue;
        if (e.distance > furthest) [[unlikely]] {
          mine.too_far = true;
          continue;
        }
        kept(e);
        edges.each_edge(e.vertex, [&](Id u, weight x) {
          if constexpr (Which != edges_of::any_weight) {
            const bool heavy = static_cast<double>(x) > delta;
            if (heavy != (Which == edges_of::heavy)) return;
            ++relaxed;
          }
          send({u, static_cast<Distance>(e.distance + static_cast<Distance>(x))});
        });
        if constexpr (Which == edges_of::any_weight) relaxed += edges.degree(e.vertex);
      }
    });
    mine.improvements += Which == edges_of::heavy ? 0 : entries.size();
    mine.relaxations += relaxed;
    w.counters().add(k, obs::counter::edges, relaxed);
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
  traverse::ordered_work<queue> work;
  activity::executor<relax> relaxations;
  task::per_worker<count> counts;

 private:
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
