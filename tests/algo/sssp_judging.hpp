// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/sssp.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/small_run.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/weighted_graph.hpp>

#include "algo/search_choices.hpp"
#include "algo/shortest_paths.hpp"

namespace cairn::algo {

using support::share_of;
using support::weighted_graph;
using support::weights;

// As the reference has them.
template <class Distance>
std::vector<double> all_of(world& w, const pgas::vertex_map<Distance>& distance) {
  std::vector<double> all;
  for (const auto d : w.all_gather_values<Distance>(distance.local())) {
    all.push_back(d == unreached<Distance> ? HUGE_VAL : static_cast<double>(d));
  }
  return all;
}

enum class layout { none, bins };

template <class Id>
std::optional<length_layout<Id>> layout_of(world& w, const graph::dist_csr<Id>& g, layout setting) {
  if (setting == layout::none || w.size() > 1 || !g.weighted()) return std::nullopt;
  return std::optional<length_layout<Id>>(std::in_place, w, g);
}

// The edges of all vertices that are reached; skips_ends: but for those of degree 1.
inline std::uint64_t fewest_relaxations(const weighted_graph& g, std::uint64_t source,
                                        const std::vector<double>& distance, bool skips_ends) {
  const auto arcs = g.arcs();
  std::vector<std::uint64_t> degree(g.graph.n);
  for (const auto& a : arcs) ++degree[a.source];
  std::uint64_t fewest = 0;
  for (const auto& a : arcs) {
    const bool ends =
        skips_ends && !g.graph.directed && degree[a.source] == 1 && a.source != source;
    fewest += ends || std::isinf(distance[a.source]) ? 0 : 1;
  }
  return fewest;
}

template <class Id>
void search_and_judge(world& w, const weighted_graph& g, std::uint64_t source,
                      const sssp_options& opt, layout kind = layout::none) {
  const auto setting = g.graph.name + " from " + std::to_string(source) + " by " +
                       std::string(enum_name(opt.algorithm)) + ", " +
                       support::describe(opt.activity);
  const auto share = share_of<Id>(g, w.rank(), w.size());
  const auto reordered = layout_of(w, share, kind);
  const auto expected = ref::dijkstra(g.graph.n, g.graph.directed, g.edges, source);
  bool uses_tables = false, skips_ends = false;
  const auto judge = [&](const auto& r) {
    EXPECT_EQ(r.ran.why == own_tables, uses_tables) << setting;
    EXPECT_EQ(all_of(w, r.distance), expected) << setting;
    EXPECT_EQ(verify_sssp(w, share, source, r.distance), std::nullopt) << setting;
    ASSERT_EQ(r.predecessor.has_value(), opt.predecessors);
    if (r.predecessor) {
      EXPECT_EQ(ref::tree_violation(g.graph.directed, g.edges, source, expected,
                                    support::whole(w, *r.predecessor)),
                "")
          << setting;
      EXPECT_EQ(verify_sssp(w, share, source, r.distance, &*r.predecessor), std::nullopt)
          << setting;
    }
    if (kind != layout::bins) {
      EXPECT_GE(r.relaxations, fewest_relaxations(g, source, expected, skips_ends)) << setting;
    }
  };
  using search = shortest_paths<Id, std::uint32_t>;
  const bool may_use_tables = search::may_use_tables(w, opt.activity);
  for (const bool tables : {false, true}) {
    if (tables && !may_use_tables) break;
    const auto lengths = measure_lengths(w, share);
    skips_ends = w.any(lengths.ends != nullptr);
    if (may_use_tables) {
      using way = traverse::small_run;
      for (auto& c : lengths.learned->ways_by_kind) {
        c.fix(tables ? way::shared_otherwise : way::shared);
      }
    }
    uses_tables = tables;
    std::visit(judge, sssp(w, share, static_cast<Id>(source), opt, lengths,
                           reordered ? &*reordered : nullptr));
  }
}

}  // namespace cairn::algo
