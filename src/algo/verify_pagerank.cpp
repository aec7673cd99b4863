// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <vector>

#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/compensated_sum.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/jacobi_sweeps.hpp"

namespace cairn::algo {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", x);
  return text;
}

struct vertex_sums {
  compensated_sum sum, sinks;         // of ranks
  double residual = 0, rounding = 0;  // sums of |rank - sweep(rank)| and of the rounding bounds
  double furthest = 0;                // largest |rank - sweep(rank)|, and its vertex
  std::uint64_t furthest_vertex = 0;
  std::uint64_t no_number = no_vertex<std::uint64_t>;

  void add(const vertex_sums& f) {
    sum += f.sum, sinks += f.sinks, residual += f.residual, rounding += f.rounding;
    if (f.furthest > furthest) furthest = f.furthest, furthest_vertex = f.furthest_vertex;
    no_number = std::min(no_number, f.no_number);
  }
};

// Calls look(sums, v, rank of v) for all vertices; the same sums on every rank.
template <class Real>
vertex_sums over_vertices(world& w, const pgas::vertex_map<Real>& rank, auto&& look) {
  task::per_worker<vertex_sums> seen(w.workers());
  traverse::for_each_own(w, rank, [&](worker_t k, std::uint64_t v) {
    look(seen[k], v, static_cast<double>(rank.load(v)));
  });
  vertex_sums mine, all;
  for (const auto& k : seen) mine.add(k.value);
  for (const auto& r : w.all_gather(mine)) all.add(r);
  return all;
}

}  // namespace

template <class Real, class Id>
std::optional<std::string> verify_pagerank(world& w, const graph::dist_csr<Id>& g,
                                           const pagerank_result<Real>& result,
                                           const pagerank_options& opt) {
  const auto id = [&](std::uint64_t v) {
    return "vertex " + g.labels().text_of(static_cast<Id>(v));
  };
  const auto n = static_cast<double>(g.num_vertices());
  const auto limits = limits_of(opt, g.num_vertices());
  // What a vertex without in-edges has after any sweep; a file may have six digits.
  const auto least = (1 - opt.damping) / n * (1 - 1e-5);
  const auto ranks = over_vertices(w, result.rank, [&](vertex_sums& f, std::uint64_t v, double x) {
    if (!(x >= least && x <= 2)) f.no_number = std::min(f.no_number, v);
    f.sum += x;
    if (g.out().degree(v) == 0) f.sinks += x;
  });
  if (ranks.no_number != no_vertex<std::uint64_t>) {
    return "rule 1: the value of " + id(ranks.no_number) + " is not a number from " +
           number((1 - opt.damping) / n) + " to 1";
  }
  const incoming<Real, Id> in(w, g, result.rank);
  const double jump =
      (1 - opt.damping + (limits.spread_sinks ? opt.damping * ranks.sinks.value() : 0)) / n;
  const bool initial = result.iterations == 0;
  const auto swept = over_vertices(w, result.rank, [&](vertex_sums& f, std::uint64_t v, double x) {
    const double off = std::abs(x - (initial ? 1 / n : jump + opt.damping * in.sum.load(v)));
    const auto terms = static_cast<double>(in.terms.load(v));
    f.residual += off;
    f.rounding += 8 * (2 + std::sqrt(terms)) * x * std::numeric_limits<Real>::epsilon() / 2;
    if (off > f.furthest) f.furthest = off, f.furthest_vertex = v;
  });
  if (limits.spread_sinks && g.num_vertices() != 0 &&
      std::abs(ranks.sum.value() - 1) > swept.rounding / (1 - opt.damping)) {
    return "rule 2: the values sum to " + number(ranks.sum.value()) +
           ", which differs from 1 by more than " + number(swept.rounding / (1 - opt.damping));
  }
  if (result.iterations > limits.max_sweeps ||
      (result.iterations < limits.max_sweeps && !(result.change < limits.tolerance))) {
    return "rule 3: it stopped after " + std::to_string(result.iterations) +
           " sweeps, the last of which changed " + number(result.change);
  }
  if (initial && !(swept.residual <= swept.rounding)) {
    return "rule 4: no sweep was made, but " + id(swept.furthest_vertex) + " is " +
           number(swept.furthest) + " away from 1/n";
  }
  if (!initial && !(swept.residual <= opt.damping * result.change + swept.rounding)) {
    return "rule 4: another sweep changes the values by " + number(swept.residual) +
           " in all, expected at most " + number(opt.damping * result.change) + "; most for " +
           id(swept.furthest_vertex) + ", by " + number(swept.furthest);
  }
  const auto largest_change =
      2 * std::pow(opt.damping, static_cast<double>(result.iterations)) / (1 - opt.damping);
  if (!initial && !(result.change <= std::max(limits.tolerance, largest_change) + swept.rounding)) {
    return "rule 5: the last of " + std::to_string(result.iterations) +
           " sweeps changed the values by " + number(result.change) + ", expected at most " +
           number(largest_change);
  }
  return std::nullopt;
}

template std::optional<std::string> verify_pagerank(world&, const graph::dist_csr<std::uint32_t>&,
                                                    const pagerank_result<float>&,
                                                    const pagerank_options&);
template std::optional<std::string> verify_pagerank(world&, const graph::dist_csr<std::uint64_t>&,
                                                    const pagerank_result<float>&,
                                                    const pagerank_options&);
template std::optional<std::string> verify_pagerank(world&, const graph::dist_csr<std::uint32_t>&,
                                                    const pagerank_result<double>&,
                                                    const pagerank_options&);
template std::optional<std::string> verify_pagerank(world&, const graph::dist_csr<std::uint64_t>&,
                                                    const pagerank_result<double>&,
                                                    const pagerank_options&);

}  // namespace cairn::algo
