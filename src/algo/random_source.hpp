// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/algo/algorithm.hpp>
#include <cairn/algo/declaration.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

template <class Id>
std::uint64_t degree_anywhere(world& w, const graph::dist_csr<Id>& g, std::uint64_t v) {
  const bool mine = g.partition().owner(v) == w.rank();
  return w.sum(mine ? g.out().degree(v) : 0);
}

/// The smallest vertex that has edges. Collective.
template <class Id>
Id first_with_edges(world& w, const graph::dist_csr<Id>& g) {
  auto v = g.out().first();
  while (v < g.out().last() && g.out().degree(v) == 0) ++v;
  const auto none = no_vertex<std::uint64_t>;
  return static_cast<Id>(none - w.max(v == g.out().last() ? 0 : none - v));
}

/// A random vertex that has edges; the first such vertex if very few have edges. Collective.
template <class Id>
Id random_source(world& w, const graph::dist_csr<Id>& g, const run_request& r) {
  constexpr int max_draws = 1000;
  if (g.num_edges() == 0) return 0;
  auto draw = random64(r.seed).stream(r.trial);
  for (int tries = 0; tries < max_draws; ++tries) {
    // By id, so that it does not depend on the order of vertices.
    const auto v = g.labels().vertex_at(draw.below(g.num_vertices()));
    if (degree_anywhere(w, g, v) != 0) return static_cast<Id>(v);
  }
  return first_with_edges(w, g);
}

/// The vertex that the option `source` names; a random_source() if it was not given. Collective.
template <class D, class Id>
Id source_of_run(const call<D, Id>& c) {
  if (c.g.num_vertices() == 0) throw usage_error("the graph has no vertices");
  if (!c.opt.source.id.empty()) return c.vertex("source", c.opt.source, 0);
  return random_source(c.w, c.g, c.request);
}

}  // namespace cairn::algo
