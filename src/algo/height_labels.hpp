// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/preflow.hpp"
#include "algo/residual_search.hpp"

namespace cairn::algo {

/// Labels of vertices: lower bounds on distances in the residual graph. `copies` holds the known
/// labels of neighbors, which are never too high. A vertex begins with its first arc after each
/// change of its label.
///
/// Collective  constructor, make_exact()
template <class Id>
struct height_labels {
  height_labels(world& world, const graph::dist_csr<Id>& graph, const preflow<Id>& flow)
      : w(world),
        g(graph),
        r(flow.r),
        of(w, g.partition(), 0),
        copies(r.arcs.size()),
        current(r.offsets.size() - 1),
        search(w, g.partition(), flow),
        updates(w,
                [this](worker_t, std::span<const update> batch) {
                  for (const auto& m : batch) copies[m.arc - r.first_arc] = m.label;
                },
                {.sends = false}) {}

  /// Sets labels to the distance to t or, if t is unreachable, to n plus the distance to s. Sends
  /// the labels to all neighbors.
  ///
  /// Returns     the number of steps of both searches
  std::uint64_t make_exact(Id s, Id t) {
    ++searches;
    search.clear();
    search.set(s, g.num_vertices());
    const auto steps = search.from(t, 0) + search.from(s, g.num_vertices());
    const auto& distances = search.distances();
    std::copy(distances.local().begin(), distances.local().end(), of.local().begin());
    traverse::push_own(w, updates, g.out(), [&](Id v, auto& send) {
      current[v - r.first] = 0;
      for (auto i = r.begin(v); i < r.end(v); ++i) {
        send(g.partition().owner(r.arcs[i].target), {r.arcs[i].mirror, of.load(v)});
      }
      return r.end(v) - r.begin(v);
    });
    return steps;
  }

  struct update {
    std::uint64_t arc, label;
  };

  world& w;
  const graph::dist_csr<Id>& g;
  const residual_graph<Id>& r;
  pgas::vertex_map<std::uint64_t> of;
  std::vector<std::uint64_t> copies;   // known labels of the arcs' targets
  std::vector<std::uint64_t> current;  // arc of its row at which a vertex goes on pushing
  residual_search<Id> search;
  am::channel<update> updates;
  std::uint64_t searches = 0;
};

}  // namespace cairn::algo
