// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

namespace cairn::algo {

/// The smallest vertex v of this rank for which wrong(v) holds, or no_vertex. Verifiers build a
/// sentence for that vertex alone.
///
/// vertices  a vertex map or a graph's rows
/// ns_each   approximate time per vertex: see chunk_of
template <class Vertices, class Wrong>
[[nodiscard]] std::uint64_t first_own(world& w, const Vertices& vertices, const Wrong& wrong,
                                      double ns_each = 5) {
  constexpr auto none = no_vertex<std::uint64_t>;
  task::per_worker<std::uint64_t> found(w.workers());
  for (auto& f : found) f.value = none;
  traverse::for_each_own(
      w, vertices,
      [&](worker_t k, std::uint64_t v) {
        if (wrong(v)) found[k] = std::min(found[k], v);
      },
      ns_each);
  auto first = none;
  for (const auto& f : found) first = std::min(first, f.value);
  return first;
}

}  // namespace cairn::algo
