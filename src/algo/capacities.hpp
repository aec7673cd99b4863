// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/traverse/rows.hpp>

#include "algo/first_own.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {

/// Throws    input_error that names the first edge if the weights are real numbers, on every rank
/// Collective.
template <class Id>
void expect_integer_capacities(world& w, const graph::dist_csr<Id>& g) {
  const auto& out = g.out();
  if (!out.template weighted_by<double>()) return;
  struct arc {
    Id from = no_vertex<Id>, to = no_vertex<Id>;
    double weight = 0;
  };
  arc mine;
  for (auto v = out.first(); v < out.last() && mine.from == no_vertex<Id>; ++v) {
    const auto row = out.template edges_of<double>(v);
    if (!row.empty()) mine = {static_cast<Id>(v), row[0].target, row[0].weight};
  }
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  for (const auto& a : w.all_gather(mine)) {
    if (a.from == no_vertex<Id>) continue;
    throw input_error("the edge from " + id(a.from) + " to " + id(a.to) + " has the real weight " +
                      text_of_weight(a.weight) + ", expected a capacity that is a 32-bit integer");
  }
  throw input_error("the weights are real numbers, expected 32-bit integers");
}

/// Throws    input_error that names the first edge with a negative weight, on every rank
/// Collective.
template <class Id>
void expect_capacities(world& w, const graph::dist_csr<Id>& g) {
  struct arc {
    Id from = no_vertex<Id>, to = no_vertex<Id>;
    std::int32_t weight = 0;
  };
  const auto& out = g.out();
  const auto first_negative = [&](std::uint64_t v) {
    const auto row = out.template edges_of<std::int32_t>(v);
    const auto bad = std::ranges::find_if(row, [](const auto& e) { return e.weight < 0; });
    return bad == row.end() ? arc{} : arc{static_cast<Id>(v), bad->target, bad->weight};
  };
  const auto at = first_own(
      w, out, [&](std::uint64_t x) { return first_negative(x).weight < 0; },
      traverse::mean_ns_of_row(out));
  const auto mine = at == no_vertex<std::uint64_t> ? arc{} : first_negative(at);
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  for (const auto& a : w.all_gather(mine)) {
    if (a.weight == 0) continue;
    throw input_error("the edge from " + id(a.from) + " to " + id(a.to) + " has weight " +
                      std::to_string(a.weight) + ", expected a capacity of at least 0");
  }
}

}  // namespace cairn::algo
