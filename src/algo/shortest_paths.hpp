// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/ordered_work.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/own_lane.hpp"
#include "algo/reached_vertices.hpp"
#include "algo/row_relaxation.hpp"
#include "algo/search_range.hpp"
#include "algo/worker_distances.hpp"

namespace cairn::algo {

/// Why a search ran without atomic instructions on several workers.
inline constexpr std::string_view own_tables = "each worker lowers distances of its own";

/// The state of a search for shortest paths, and its basic step, which expands vertices.
template <class Id, class Distance>
struct shortest_paths {
  using distance_type = Distance;
  using entry = traverse::reached_vertex<Id, Distance>;
  using batch = typename row_relaxation<Id, Distance>::batch;
  using edges = typename row_relaxation<Id, Distance>::edges;
  using range = search_range<Distance>;

  struct relax {  // the operator on the target of an edge; may fail
    using message = entry;
    static constexpr bool permanent = true, prefiltered = true;
    static bool before(const message& a, const message& b) { return a.distance < b.distance; }

    pgas::vertex_view<Distance> distances;
    reached_vertices<entry> reached;

    auto cell(const message& m) const { return distances.at(m.vertex); }
    bool wanted(Distance d, const message& m) const { return m.distance < d; }
    bool attempt(auto cell, const message& m) const { return m.distance < cell.lower(m.distance); }
    void after(const message& m, auto& at) { reached.add(at.worker(), m); }
  };

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
        distance(w, g.partition(), unreached<Distance>),
        view(distance.view()),
        furthest(furthest_to_extend(longest)),
        work(w, width),
        reached{work, dead_ends::view(skipped)},
        rows(out, reached, std::isfinite(width), furthest),
        relaxations(w, relax{view, reached}, opt),
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
                                                            std::uint64_t buckets,
                                                            std::uint64_t radii = 0) {
    typename row_relaxation<Id, Distance>::count all;
    for (const auto& k : counts) {
      all.relaxations += k.value.relaxations;
      all.improvements += k.value.improvements;
    }
    if (w.any(too_far())) return std::nullopt;
    gather();
    const auto relaxed = w.sum(all.relaxations), improved = w.sum(all.improvements);
    return sssp_result<Distance>{std::move(distance),
                                 std::nullopt,
                                 enum_name(by),
                                 delta,
                                 buckets,
                                 relaxed,
                                 improved,
                                 radii,
                                 ran()};
  }

  /// Whether this rank has found a distance that does not fit its type. Called between runs.
  [[nodiscard]] bool too_far() {
    return std::any_of(counts.begin(), counts.end(), [](const auto& k) { return k.value.too_far; });
  }

  /// Writes the distances that all workers found to `distance`. Called between runs.
  void gather() {
    if (own) own->gather();
  }

  /// The smallest distance of v that worker k knows of, on one rank.
  [[nodiscard]] Distance found(worker_t k, Id v) {
    return own ? own->of(k).least(v) : tm::load_cell(view.element(v));
  }

  /// Relaxes the edges of those entries that are still current, on worker k.
  void expand(worker_t k, batch& entries) {
    expand_by(k, [&](auto& mine, const auto& is_current, auto& send) {
      return rows.relax_all(k, entries, mine, is_current, send);
    });
    counts[k].improvements += entries.size();
  }
  /// expand() for some of the edges.
  ///
  /// kept      current entries are added to it; nullptr: not needed
  void expand(worker_t k, batch& entries, range some, traverse::worklist<entry>* kept = nullptr) {
    expand_by(k, [&](auto& mine, const auto& is_current, auto& send) {
      return rows.relax_some(k, entries, mine, some, kept, is_current, send);
    });
    counts[k].improvements += entries.size();
  }
  /// expand() for some of the edges of entries that have been expanded before.
  void expand_again(worker_t k, std::span<const entry> entries, range some) {
    expand_by(k, [&](auto& mine, const auto& is_current, auto& send) {
      return rows.relax_some(k, entries, mine, some, is_current, send);
    });
  }

  world& w;
  pgas::vertex_map<Distance> distance;
  const pgas::vertex_view<Distance> view;
  const Distance furthest;  // the largest distance to which every edge can be added
  traverse::ordered_work<entry> work;
  const reached_vertices<entry> reached;
  const row_relaxation<Id, Distance> rows;
  activity::executor<relax> relaxations;
  std::optional<worker_distances<Distance>> own;  // used instead of `relaxations` if present
  task::per_worker<typename row_relaxation<Id, Distance>::count> counts;

 private:
  // Calls relax_edges(count, is_current, send), which returns the number of edges.
  template <class Relax>
  void expand_by(worker_t k, Relax&& relax_edges) {
    auto& mine = counts[k];
    std::uint64_t relaxed = 0;
    if (own) {
      const auto tables = own->of(k);
      own_lane<Id, Distance> send(k, tables, reached);
      relaxed = relax_edges(
          mine, [tables](const entry& e) { return tables.is_least(e.vertex, e.distance); }, send);
      send.flush();
    } else {
      relaxations.spawn(k, [&](auto& send) {
        relaxed = relax_edges(
            mine,
            [at = view](const entry& e) {
              return tm::load_cell(at.element(e.vertex)) == e.distance;
            },
            send);
        return relaxed;
      });
    }
    mine.relaxations += relaxed;
    w.counters().add(k, obs::counter::edges, relaxed);
  }

  [[nodiscard]] activity::ran ran() const {
    if (!own) return relaxations.ran();
    return {activity::mechanism::plain, 1, std::string(own_tables)};
  }

  static Distance furthest_to_extend(double longest) {
    if constexpr (std::is_integral_v<Distance>) {
      return static_cast<Distance>(unreached<Distance> - 1 - static_cast<Distance>(longest));
    } else {
      return unreached<Distance>;
    }
  }
};

}  // namespace cairn::algo
