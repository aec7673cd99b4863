// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <cairn/activity/executor.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/preflow.hpp"

namespace cairn::algo {

/// Breadth-first searches against the direction of residual arcs.
///
/// Collective  constructor and from()
template <class Id>
class residual_search {
 public:
  static constexpr std::uint64_t far = ~std::uint64_t{0};

  residual_search(world& w, const pgas::partition& vertices, const preflow<Id>& flow)
      : w_(w),
        flow_(flow),
        distance_(w, vertices, far),
        reached_(w),
        visits_(w, visit{distance_.view(), reached_}, {.auxiliary = true}) {}

  /// Clears all distances.
  void clear() { std::fill(distance_.local().begin(), distance_.local().end(), far); }
  /// Sets v's distance; searches do not expand v.
  void set(Id v, std::uint64_t distance) {
    if (distance_.owns(v)) distance_.store(v, distance);
  }

  /// Sets the distance to `root`, plus `start`, of all vertices without a distance. The residual
  /// capacity of u -> v is known at v: the sum of both directions is constant.
  ///
  /// Returns     the number of steps
  std::uint64_t from(Id root, std::uint64_t start) {
    set(root, start);
    if (distance_.owns(root)) reached_.add(main_worker, root);
    std::uint64_t reached = 1;  // vertices in the last step, on all ranks
    auto d = start + 1;
    for (; reached != 0; ++d) {
      reached = traverse::push_each(
          w_, visits_, reached_.take(),
          [&](Id v, auto& send) {
            const auto& r = flow_.r;
            for (auto i = r.begin(v); i < r.end(v); ++i) {
              const auto& arc = r.arcs[i];
              if (arc.capacity + arc.reverse_capacity > flow_.room(i)) send({arc.target, d});
            }
            return r.end(v) - r.begin(v);
          },
          flow_.r.ns_of_row(), traverse::closing_with_size(reached_));
    }
    return d - start - 1;
  }

  [[nodiscard]] const pgas::vertex_map<std::uint64_t>& distances() const noexcept {
    return distance_;
  }

 private:
  struct visit {
    struct message {
      Id v;
      std::uint64_t distance;
    };
    static constexpr bool sends = false;
    pgas::vertex_view<std::uint64_t> distances;
    traverse::worklist<Id>& reached;

    auto cell(const message& m) const { return distances.at(m.v); }
    bool wanted(std::uint64_t found, const message&) const { return found == far; }
    bool attempt(auto d, const message& m) const { return d.claim(far, m.distance) == far; }
    void after(const message& m, auto& at) { reached.add(at.worker(), m.v); }
  };

  world& w_;
  const preflow<Id>& flow_;
  pgas::vertex_map<std::uint64_t> distance_;
  traverse::worklist<Id> reached_;
  activity::executor<visit> visits_;
};

}  // namespace cairn::algo
