// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/bit_set.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/fetch.hpp"
#include "algo/gathered_values.hpp"
#include "algo/sort.hpp"
#include "algo/wanted_ids.hpp"

namespace cairn::algo {

/// Values of a map at the neighbors of this rank's vertices that belong to other ranks, as of the
/// last refresh(). If the ranks have on the mean an eighth of all vertices as such neighbors, all
/// values are gathered.
///
/// Messages    two per distinct remote neighbor, or none; gathering moves n values
/// Memory      per rank: an id and a value per distinct remote neighbor, or as gathered_values.
///             During choose() n bits, or 8 ids per distinct remote neighbor and worker
/// Collective  constructor, destructor, choose() and refresh()
template <class Id>
class neighbor_values {
 public:
  neighbor_values(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<Id>& map)
      : w_(w), g_(g), map_(map), some_(w, map), all_(w, map.partition()) {}

  /// Determines the neighbors. Called once, if there are several ranks.
  void choose() {
    if (many_of_all(g_.out().num_edges())) {
      auto ids = marked_neighbors();
      gathers_ = many_of_all(ids.size());
      if (!gathers_) some_.choose(std::move(ids));
    } else {
      wanted_ids<Id> wanted(w_);
      each_remote([&](worker_t k, Id u) { wanted.add(k, u); });
      some_.choose(wanted.take());
    }
  }
  /// The map must not change meanwhile.
  void refresh() {
    if (gathers_) {
      all_.gather(map_.local());
    } else {
      some_.refresh();
    }
  }

  [[nodiscard]] Id operator()(Id u) const { return gathers_ ? all_.values()[u] : some_(u); }

 private:
  // Whether requesting so many values takes longer, on the mean over ranks, than gathering all.
  [[nodiscard]] bool many_of_all(std::uint64_t requested) const {
    constexpr std::uint64_t per_gathered = 8;
    const auto ranks = static_cast<std::uint64_t>(w_.size());
    return w_.sum(requested) / ranks >= g_.num_vertices() / per_gathered;
  }

  // Calls f(worker, u) for each end of an edge that belongs to another rank.
  void each_remote(auto&& f) {
    traverse::for_edge_ranges(w_, g_.out(), 1,
                              [&](worker_t k, std::uint64_t v, std::uint64_t last) {
                                for (; v < last; ++v) {
                                  for (const Id u : g_.out().neighbors(v)) {
                                    if (!map_.owns(u)) f(k, u);
                                  }
                                }
                              });
  }
  [[nodiscard]] std::vector<Id> marked_neighbors() {
    traverse::bit_set marks(w_, g_.num_vertices());
    const bool shared = w_.workers() > 1;
    each_remote([&](worker_t, Id u) { shared ? marks.set_shared(u) : marks.set(u); });
    std::vector<Id> ids;
    in_pieces(w_, marks.words().size(), [&](std::size_t begin, std::size_t end) {
      marks.for_each(begin, end, [&](std::size_t u) { ids.push_back(static_cast<Id>(u)); });
    });
    return ids;
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const pgas::vertex_map<Id>& map_;
  fetched<Id> some_;
  bool gathers_ = false;
  gathered_values<Id> all_;
};

}  // namespace cairn::algo
