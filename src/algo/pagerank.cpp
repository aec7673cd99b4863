// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include <cairn/algo/pagerank.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/one_worker.hpp>
#include <cairn/traverse/small_run.hpp>

#include "algo/acyclic_order.hpp"
#include "algo/pagerank_pull.hpp"
#include "algo/pagerank_push.hpp"
#include "algo/pagerank_state.hpp"

namespace cairn::algo {

pagerank_limits limits_of(const pagerank_options& opt, std::uint64_t num_vertices) {
  switch (opt.convention) {
    case pagerank_convention::graphalytics:
      return {true, opt.iterations.value_or(20), 0};
    case pagerank_convention::networkx:
      return {true, opt.iterations.value_or(100),
              opt.tolerance.value_or(1e-6) * static_cast<double>(num_vertices)};
    case pagerank_convention::gap:
      break;
  }
  return {false, opt.iterations.value_or(20), opt.tolerance.value_or(1e-4)};
}

std::uint64_t expected_sweeps(const pagerank_options& opt, std::uint64_t num_vertices) {
  const auto limits = limits_of(opt, num_vertices);
  if (!(limits.tolerance > 0) || !(opt.damping > 0)) return limits.max_sweeps;
  const double needed = std::log(std::min(limits.tolerance, 1.0)) / std::log(opt.damping) / 4 + 1;
  return std::min(limits.max_sweeps, static_cast<std::uint64_t>(needed));
}

template <class Real, class Id>
pagerank_result<Real> pagerank(world& w, const graph::dist_csr<Id>& g, const pagerank_options& opt,
                               const pull_layout<Id>* layout) {
  CAIRN_EXPECTS(opt.damping >= 0 && opt.damping < 1);
  CAIRN_EXPECTS(!opt.tolerance || *opt.tolerance >= 0);
  if (opt.variant == pagerank_variant::pull) g.expect_in();
  const bool may_be_in_place =
      opt.variant == pagerank_variant::pull && opt.convention == pagerank_convention::gap;
  CAIRN_EXPECTS(opt.sweep != pagerank_sweep::in_place || may_be_in_place,
                "in-place sweeps are for pull by GAP's convention");
  CAIRN_EXPECTS(layout == nullptr || (opt.variant == pagerank_variant::pull &&
                                      layout->num_rows() == g.out().num_rows()),
                "a layout is for pull, and for the graph from which it was built");
  const bool in_place = may_be_in_place && opt.sweep != pagerank_sweep::jacobi;
  const auto limits = limits_of(opt, g.num_vertices());
  std::optional<traverse::small_run> on_workers;
  std::optional<one_worker> alone;
  std::optional<row_sum> row_sums;
  const bool one_sweep = layout == nullptr && one_sweep_suffices(w, g, opt);
  if (opt.variant == pagerank_variant::pull) {
    const bool by_runs = layout == nullptr && w.size() == 1 &&
                         compares_runs(g.in().targets().size(), g.num_vertices() * sizeof(Real));
    if (by_runs) row_sums = row_sum::near;
    if (!one_sweep) {
      const auto like = std::bit_cast<std::uint64_t>(limits.tolerance) ^ limits.max_sweeps ^
                        std::bit_cast<std::uint64_t>(opt.damping) * (2 * sizeof(Real) + in_place);
      on_workers.emplace(w, g, opt.activity, traverse::run_kind::page_ranks,
                         by_runs ? &w.sharing() : nullptr, like);
      if (on_workers->second_way()) row_sums = row_sum::even;
      if (on_workers->on_one_worker()) row_sums.reset();  // the first sweep compares ways
    }
  }
  pagerank_state<Real, Id> s(w, g, opt.damping);
  std::uint64_t iterations = 0;
  const auto iterate = [&](auto&& sweeps) {
    const auto n = static_cast<double>(g.num_vertices());
    while (iterations < limits.max_sweeps) {
      const double spread = limits.spread_sinks ? opt.damping * s.rank_of_sinks() : 0;
      s.jump = static_cast<Real>((1 - opt.damping + spread) / n);
      sweeps.sweep();
      ++iterations;
      s.change = one_sweep ? 0 : s.total.collect();
      if (one_sweep || s.change < limits.tolerance) break;
    }
  };
  const bool edges = opt.variant == pagerank_variant::edge;
  std::optional<pgas::accumulation> aggregate;
  activity::ran ran;
  if (opt.variant == pagerank_variant::pull) {
    pagerank_pull<Real, Id> sweeps(s, in_place, limits.tolerance, layout, row_sums);
    if (one_sweep) alone.emplace(w);
    iterate(sweeps);
    ran.why = "no operators: each value has one writer";
  } else if (opt.aggregate) {
    pgas::accumulator_map<add<double>, Id, Real> sums(w, g.partition(), *opt.aggregate);
    iterate(pagerank_push(s, sums, edges));
    aggregate = sums.method();
    ran.why = "no operators: each worker adds to memory of its own";
  } else {
    operator_sums<Real, Id> sums(w, g.partition(), opt.activity);
    iterate(pagerank_push(s, sums, edges));
    ran = sums.ran();
  }
  const auto sweepers = static_cast<std::uint64_t>(w.workers());
  return {std::move(s.rank), iterations, s.change, in_place, sweepers, aggregate, std::move(ran)};
}

template pagerank_result<float> pagerank<float>(world&, const graph::dist_csr<std::uint32_t>&,
                                                const pagerank_options&,
                                                const pull_layout<std::uint32_t>*);
template pagerank_result<float> pagerank<float>(world&, const graph::dist_csr<std::uint64_t>&,
                                                const pagerank_options&,
                                                const pull_layout<std::uint64_t>*);
template pagerank_result<double> pagerank<double>(world&, const graph::dist_csr<std::uint32_t>&,
                                                  const pagerank_options&,
                                                  const pull_layout<std::uint32_t>*);
template pagerank_result<double> pagerank<double>(world&, const graph::dist_csr<std::uint64_t>&,
                                                  const pagerank_options&,
                                                  const pull_layout<std::uint64_t>*);

}  // namespace cairn::algo
