// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/small_run.hpp>

#include "algo/check_delta.hpp"
#include "algo/delta_stepping.hpp"
#include "algo/radius_search.hpp"
#include "algo/search_choices.hpp"
#include "algo/shortest_path_tree.hpp"
#include "algo/shortest_paths.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

constexpr double max_delta = std::numeric_limits<double>::max();

// The in-edges if radii are expected to pay off. Without a layout, skipped edges are still read.
// That costs less than relaxing them if the distances exceed a second cache.
template <class Id, class Weight>
std::optional<traverse::weighted_rows<Id, Weight>> in_edges(const world& w,
                                                            const graph::dist_csr<Id>& g,
                                                            const length_layout<Id>* layout) {
  constexpr std::uint64_t vertices_in_cache = std::uint64_t{1} << 19;
  if (layout) return layout->template in<Weight>(g);
  if (w.size() > 1 || g.directed() || !g.weighted() || g.num_vertices() < vertices_in_cache) {
    return std::nullopt;
  }
  return traverse::weighted_rows<Id, Weight>(g.in());
}

// How a search proceeds.
//
// delta   infinity: chaotic
// in      in-edges for radii; nothing: no radius
// tables  workers lower distances in tables of their own
// ends    vertices that need not be expanded; nullptr: none
template <class Id, class Weight>
struct search_plan {
  sssp_method by;
  double delta;
  const std::optional<traverse::weighted_rows<Id, Weight>>& in;
  bool tables;
  const dead_ends* ends;
};

template <class Id, class Distance>
std::optional<sssp_result<Distance>> search(world& w, const graph::dist_csr<Id>& g, Id source,
                                            const sssp_options& opt, double longest,
                                            const length_layout<Id>* layout,
                                            const search_plan<Id, weight_of<Distance>>& plan) {
  using weight = weight_of<Distance>;
  const auto out =
      layout ? layout->template out<weight>(g) : traverse::weighted_rows<Id, weight>(g.out());
  shortest_paths<Id, Distance> s(w, g, out, opt.activity, longest, plan.delta, plan.tables,
                                 plan.ends);
  s.start(source);
  std::uint64_t buckets = 0, radii = 0;
  if (plan.by == sssp_method::delta) {
    buckets = relax_by_buckets(s, plan.delta, longest, !opt.delta);
  } else {  // [DC15] algorithm 1
    radius_search<Id, Distance> by_radii(s, g, plan.in, source, plan.delta);
    by_radii.run();
    radii = by_radii.num_first_radii();
  }
  return s.result(plan.by, std::isinf(plan.delta) ? 0 : plan.delta, buckets, radii);
}

// Adds predecessors if they are requested.
template <class Id, class Distance>
std::optional<sssp_result<Distance>> paths(world& w, const graph::dist_csr<Id>& g, Id source,
                                           const sssp_options& opt, const edge_lengths& lengths,
                                           const length_layout<Id>* layout) {
  using weight = weight_of<Distance>;
  const auto by =
      opt.algorithm == sssp_method::automatic ? sssp_method::distributed_control : opt.algorithm;
  std::optional<traverse::weighted_rows<Id, weight>> in;
  if (by == sssp_method::distributed_control) in = in_edges<Id, weight>(w, g, layout);
  const bool learns =
      lengths.learned && by == sssp_method::distributed_control && !opt.delta && !in;
  width_choice* widths = nullptr;
  std::optional<sssp_result<Distance>> found;
  {
    timed_choice* ways = nullptr;
    if (lengths.learned && shortest_paths<Id, Distance>::may_use_tables(w, opt.activity)) {
      ways = &lengths.learned->ways(by, layout != nullptr);
    }
    traverse::small_run on_workers(w, g, opt.activity, traverse::run_kind::shortest_paths, ways);
    if (ways && !on_workers.on_one_worker()) {
      w.trace().note(main_worker, obs::trace_kind::choice,
                     on_workers.second_way() ? "tables of each worker" : "atomics");
    }
    if (learns) widths = &lengths.learned->width(w);
    // With wider buckets workers wait for each other less often.
    const double wider = w.size() > 1 || w.workers() > 1 ? 2 : 1;
    const auto suits = wider * lengths.delta * (widths ? widths->factor() : 1);
    const bool chaotic = by == sssp_method::chaotic;
    const auto delta = chaotic ? HUGE_VAL : opt.delta.value_or(std::min(suits, max_delta));
    if (!chaotic && !opt.delta) {
      w.trace().note(main_worker, obs::trace_kind::choice, "width of buckets",
                     {.amount = static_cast<std::uint64_t>(std::min(delta, 0x1p63))});
    }
    found = search<Id, Distance>(w, g, source, opt, lengths.longest, layout,
                                 {by, delta, in, on_workers.second_way(), lengths.ends.get()});
    if (!found) on_workers.forget();
  }
  if (widths && found) learn_width(w, *widths, g.out(), source, lengths.ends.get(), *found);
  if (found && opt.predecessors) {
    found->predecessor = shortest_path_tree<Id, Distance>(w, g, found->distance).grow(source);
  }
  return found;
}

}  // namespace

template <class Id>
sssp_found sssp(world& w, const graph::dist_csr<Id>& g, Id source, const sssp_options& opt,
                const edge_lengths& lengths, const length_layout<Id>* layout) {
  CAIRN_EXPECTS(source < g.num_vertices());
  if (opt.delta) check_delta(*opt.delta, "delta");
  if (g.out().template weighted_by<double>()) {
    return *paths<Id, double>(w, g, source, opt, lengths, layout);
  }
  if constexpr (std::is_same_v<Id, std::uint32_t>) {
    auto* const learned = lengths.learned.get();
    if (!learned || !learned->needs_64_bits) {
      auto found = paths<Id, std::uint32_t>(w, g, source, opt, lengths, layout);
      if (found) return std::move(*found);
      if (learned) learned->needs_64_bits = true;
    }
  }
  return *paths<Id, std::uint64_t>(w, g, source, opt, lengths, layout);
}

template sssp_found sssp(world&, const graph::dist_csr<std::uint32_t>&, std::uint32_t,
                         const sssp_options&, const edge_lengths&,
                         const length_layout<std::uint32_t>*);
template sssp_found sssp(world&, const graph::dist_csr<std::uint64_t>&, std::uint64_t,
                         const sssp_options&, const edge_lengths&,
                         const length_layout<std::uint64_t>*);

}  // namespace cairn::algo
