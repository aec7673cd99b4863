// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/algo/mst.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/boruvka.hpp"
#include "algo/sort.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {

/// Collects the edges of a forest. Workers add edges, which are sent to the ranks that own their
/// sources.
///
/// Collective  constructor; edges are added while an epoch is open
template <class Id>
class forest_edges {
 public:
  forest_edges(world& w, const pgas::partition& vertices)
      : w_(w),
        vertices_(vertices),
        parts_(w.workers()),
        to_owner_(w,
                  [this](worker_t k, std::span<const outgoing_edge<Id>> batch) {
                    for (const auto& e : batch) keep(k, e);
                  },
                  {.sends = false}) {}

  /// from(k)(edge), called by worker k: see traverse/push.hpp.
  [[nodiscard]] auto from(worker_t k) {
    return [this, k](const outgoing_edge<Id>& e) { take(k, e); };
  }
  void take(worker_t k, const outgoing_edge<Id>& e) {
    const auto owner = vertices_.owner(e.source);
    if (owner == w_.rank()) {
      keep(k, e);
    } else {
      to_owner_.send(k, owner, e);
    }
  }

  /// The edges whose source this rank owns, ascending. Called once, after the last epoch.
  [[nodiscard]] std::vector<mst_edge<Id>> sorted() {
    const auto first = vertices_.first(w_.rank());
    const auto sources = vertices_.size(w_.rank());
    std::vector<std::size_t> ends(sources + 1);  // of the edges before each source, then of its own
    each_by_source([&](const mst_edge<Id>& e) { ++ends[e.source - first + 1]; });
    in_pieces(w_, sources, [&](std::size_t begin, std::size_t end) {
      for (auto i = begin; i < end; ++i) ends[i + 1] += ends[i];
    });
    std::vector<mst_edge<Id>> all(ends.back());
    each_by_source([&](const mst_edge<Id>& e) { all[ends[e.source - first]++] = e; });
    w_.parallel_for(
        sources,
        [&](worker_t k, std::size_t i, std::size_t last) {
          for (auto begin = i == 0 ? 0 : ends[i - 1]; i < last; begin = ends[i++]) {
            sort_in_loop(w_, k, std::span(all).subspan(begin, ends[i] - begin),
                         [](const auto& a, const auto& b) { return a.target < b.target; });
          }
        },
        traverse::chunk_of(w_, sources, 10));
    return all;
  }

 private:
  // Calls f(edge) for all edges: each worker reads all of them and processes those of its sources.
  void each_by_source(auto&& f) {
    const auto workers = static_cast<std::size_t>(w_.workers());
    const auto first = vertices_.first(w_.rank()), block = vertices_.size(w_.rank()) / workers + 1;
    const auto process = [&](worker_t k, std::size_t i, std::size_t) {
      const auto begin = first + i * block, end = begin + block;
      for (const auto& some : parts_) {
        std::size_t n = 0;
        for (const auto& e : some.value) {
          if (e.source >= begin && e.source < end) f(e);
          if (++n % 65'536 == 0 && !w_.pool().may_continue(k)) return;
        }
      }
    };
    w_.parallel_for(workers, process, 1);
  }
  void keep(worker_t k, const outgoing_edge<Id>& e) {
    parts_[k].push_back({e.source, e.target, from_ordered(e.weight)});
  }

  world& w_;
  const pgas::partition vertices_;
  task::per_worker<std::vector<mst_edge<Id>>> parts_;
  am::channel<outgoing_edge<Id>> to_owner_;
};

/// Sends edges to the owners of their smaller ends, and returns those of this rank, ascending.
///
/// each        each(take) calls take(worker, end, end, weight) for each edge of this rank
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::vector<mst_edge<Id>> sorted_at_owners(world& w, const pgas::partition& vertices,
                                                         const auto& each) {
  forest_edges<Id> edges(w, vertices);
  am::epoch epoch(w);
  each([&](worker_t k, std::uint64_t a, std::uint64_t b, double weight) {
    const auto [source, target] = std::minmax(a, b);
    edges.take(k, {to_ordered(weight), static_cast<Id>(source), static_cast<Id>(target), Id{}});
  });
  epoch.close();
  return edges.sorted();
}

/// A growing forest: the root of each vertex's tree, and the edges of all trees.
///
/// Collective  constructor
template <class Id>
struct spanning_forest {
  spanning_forest(world& world, const pgas::partition& vertices)
      : w(world),
        root(w, vertices, 0),
        lightest(w, vertices, outgoing_edge<Id>{}),
        edges(w, vertices) {
    each_own([&](worker_t, Id v) { root.store(v, v); });
  }

  [[nodiscard]] outgoing_edge<Id>& edge_of(Id r) { return lightest.local()[r - root.first()]; }
  /// After roots have been pointed at the roots at the other ends of their edges: of two that point
  /// at each other the smaller stays root, and only the larger adds the edge to the forest,
  /// whichever value of the smaller's parent it reads.
  void settle(Id r, Id parent_of_other, auto&& take) {
    const auto& e = edge_of(r);
    if (r < e.other_root && parent_of_other == r) {
      root.store(r, r);
    } else {
      take(e);
    }
  }
  void each_own(auto&& f) {
    traverse::for_each_own(
        w, root, [&](worker_t k, std::uint64_t v) { f(k, static_cast<Id>(v)); }, ns_of_vertex);
  }

  static constexpr double ns_of_vertex = 20;  // approximate; most loops read one edge

  world& w;
  pgas::vertex_map<Id> root;  // of each vertex's tree; an ancestor during a merge
  pgas::vertex_map<outgoing_edge<Id>> lightest;  // by root
  forest_edges<Id> edges;
};

}  // namespace cairn::algo
