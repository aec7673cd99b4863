// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <cairn/activity/executor.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/boruvka.hpp"
#include "algo/spanning_forest.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {

/// Finds the lightest outgoing edges of the trees of a forest, each time after trees have merged.
/// Each vertex offers its lightest one to the root of its tree. A vertex without one is not looked
/// at again, because trees only grow.
template <class Id>
class lightest_edges {
 public:
  lightest_edges(const graph::dist_csr<Id>& g, spanning_forest<Id>& f, activity::domain& data)
      : g_(g), f_(f), offers_(data, offer_edge<Id>{f.lightest.view()}), active_(f.w) {
    f.each_own([&](worker_t k, Id v) { active_.add(k, v); });
  }

  /// Sends each tree's edge to the record of its root, which is empty before, in an epoch that the
  /// caller has opened and closes. Records of this rank have received this rank's edges on return.
  /// Not collective.
  ///
  /// remote_root(u)  the root of u, a vertex of another rank
  void find(const auto& remote_root) {
    with_edges(g_.out(), [&](auto edges) {
      const auto list = active_.take();
      const auto offer = [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
        const auto roots = f_.root.view();
        const auto root_of = [&](Id u) {
          return roots.owns(u) ? tm::load_cell(roots.element(u)) : remote_root(u);
        };
        std::uint64_t looked = 0;
        for (const Id v : list.subspan(begin, end - begin)) {
          const Id mine = tm::load_cell(roots.element(v));
          const auto lightest = lightest_of(v, mine, root_of, edges(v), looked);
          if (lightest.weight == no_edge) continue;
          active_.add(k, v);
          send({mine, lightest});
        }
        return looked;
      };
      traverse::push_ranges_within(f_.w, offers_, list.size(), offer,
                                   traverse::chunk_of(f_.w, list.size(), f_.ns_of_vertex));
    });
  }

  [[nodiscard]] activity::ran ran() const { return offers_.ran(); }

 private:
  // Targets ascend, so the first of several edges of equal weight is the lightest.
  [[nodiscard]] outgoing_edge<Id> lightest_of(Id v, Id mine, const auto& root_of, const auto& edges,
                                              std::uint64_t& looked) const {
    Id to = v, to_root = mine;
    double lightest = 0;
    for (const auto [u, weight] : edges) {
      ++looked;
      const Id root = root_of(u);
      if (root == mine || (to != v && weight >= lightest)) continue;
      to = u, to_root = root, lightest = weight;
      if (!g_.weighted()) break;
    }
    if (to == v) return {};
    return {to_ordered(lightest), std::min(v, to), std::max(v, to), to_root};
  }

  const graph::dist_csr<Id>& g_;
  spanning_forest<Id>& f_;
  activity::executor<offer_edge<Id>> offers_;
  traverse::worklist<Id> active_;  // vertices that may have an edge to another tree
};

}  // namespace cairn::algo
