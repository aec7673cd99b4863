// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/graph/dist_csr.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

namespace cairn::algo {

/// The vertices of this rank that have edges to themselves, if the graph is undirected. Its rows
/// list such an edge once and others at both ends, so that
///
///   edges between vertices of a set = (entries of their rows + loops) / 2
///
/// Work      O(n log(degree)) once
template <class Id>
class own_loops {
 public:
  own_loops(world& w, const graph::dist_csr<Id>& g) {
    if (g.directed()) return;
    task::per_worker<list> found(w.workers());
    constexpr double ns_each = 50;
    traverse::for_each_own(
        w, g.out(),
        [&](worker_t k, Id v) {
          const auto [low, high] = std::ranges::equal_range(g.out().neighbors(v), v);
          const auto loops = static_cast<std::uint64_t>(high - low);
          if (loops != 0) found[k].emplace_back(v, loops);
        },
        ns_each);
    for (auto& k : found) all_.insert(all_.end(), k.value.begin(), k.value.end());
  }

  /// Number of loops at the vertices that contains(v) selects.
  template <class Contains>
  [[nodiscard]] std::uint64_t count(Contains&& contains) const {
    std::uint64_t sum = 0;
    for (const auto& [v, loops] : all_) sum += contains(v) ? loops : 0;
    return sum;
  }

 private:
  using list = std::vector<std::pair<Id, std::uint64_t>>;
  list all_;
};

}  // namespace cairn::algo
