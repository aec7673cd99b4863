// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include <cairn/algo/sssp.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/dead_ends.hpp"
#include "algo/search_choices.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {
namespace {

template <class Id>
struct bad_edge {
  Id from = no_vertex<Id>, to = no_vertex<Id>;
  double weight = 0;
};

template <class Id>
void expect_lengths(world& w, const graph::dist_csr<Id>& g, const bad_edge<Id>& mine) {
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  for (const auto& a : w.all_gather(mine)) {
    if (a.from == no_vertex<Id>) continue;
    const auto weight = g.out().template weighted_by<std::int32_t>()
                            ? std::to_string(static_cast<std::int32_t>(a.weight))
                            : text_of_weight(a.weight);
    throw input_error("the edge from " + id(a.from) + " to " + id(a.to) + " has weight " + weight +
                      ", expected a length of at least 0");
  }
}

// Throws if the length of a path, which has at most n - 1 edges, may exceed the largest double.
// Edges of infinite length, which a graph from memory may have, are on no path.
template <class Id>
void expect_finite_distances(world& w, const graph::dist_csr<Id>& g, double longest) {
  const auto max_edges = static_cast<double>(g.num_vertices()) - 1;
  const auto& out = g.out();
  if (!out.template weighted_by<double>() || std::isfinite(longest * max_edges)) return;
  bad_edge<Id> mine;
  for (auto v = out.first(); v < out.last() && mine.from == no_vertex<Id>; ++v) {
    const auto row = out.template edges_of<double>(v);
    const auto at = std::ranges::find_if(row, [&](const auto& e) {
      return std::isfinite(e.weight) && !std::isfinite(e.weight * max_edges);
    });
    if (at != row.end()) mine = {static_cast<Id>(v), at->target, at->weight};
  }
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  for (const auto& e : w.all_gather(mine)) {
    if (e.from == no_vertex<Id>) continue;
    throw input_error("the edge from " + id(e.from) + " to " + id(e.to) + " has weight " +
                      text_of_weight(e.weight) + ": the length of a path of " +
                      std::to_string(g.num_vertices() - 1) +
                      " such edges exceeds the largest double");
  }
}

template <class Id>
struct seen_edges {
  double longest = 0;
  std::uint64_t rows = 0;  // with edges
  std::uint64_t ends = 0;  // dead ends, in an undirected graph those with an edge
  bad_edge<Id> first;
};

// The edges of this rank. Checks all of them.
template <class Id>
seen_edges<Id> look_at_edges(world& w, const graph::dist_csr<Id>& g) {
  task::per_worker<seen_edges<Id>> found(w.workers());
  const auto& out = g.out();
  const auto degree_of_end = dead_ends::degree_in(g);
  with_edges(out, [&](auto edges) {
    traverse::for_each_own(
        w, out,
        [&](worker_t k, Id v) {
          auto& mine = found[k];
          const auto degree = out.degree(v);
          mine.rows += degree > 0 ? 1 : 0;
          mine.ends += degree == degree_of_end ? 1 : 0;
          for (const auto [u, weight] : edges(v)) {
            const auto x = static_cast<double>(weight);
            if (!(x >= 0) && v < mine.first.from) mine.first = {v, u, x};
            mine.longest = std::max(mine.longest, x);
          }
        },
        20);
  });
  seen_edges<Id> all;
  for (const auto& k : found) {
    if (k.value.first.from < all.first.from) all.first = k.value.first;
    all.longest = std::max(all.longest, k.value.longest);
    all.rows += k.value.rows;
    all.ends += k.value.ends;
  }
  expect_lengths(w, g, all.first);
  return all;
}

struct sampled {
  double weight, degree;
  bool back;  // whether there is an edge back
};

// Random edges of this rank: their weights, the degrees of their ends, and whether there is an edge
// back, as far as this rank knows.
template <class Id>
std::vector<sampled> sample_of(world& w, const graph::dist_csr<Id>& g) {
  constexpr std::uint64_t wanted = 1024;
  const auto& out = g.out();
  const auto edges = out.num_edges();
  std::vector<sampled> sample;
  if (edges == 0) return sample;
  const auto first = out.offsets().front();
  random64 draw(edges);
  for (auto left = wanted / static_cast<std::uint64_t>(w.size()) + 1; left > 0; --left) {
    const auto at = first + draw.below(edges);
    const auto row = std::upper_bound(out.offsets().begin(), out.offsets().end(), at) - 1;
    const auto v = out.first() + static_cast<std::uint64_t>(row - out.offsets().begin());
    const auto i = static_cast<std::size_t>(at - *row);
    const std::uint64_t u = out.neighbors(v)[i];
    const bool mine = u - out.first() < out.num_rows();
    const bool back = !g.directed() || (mine && std::ranges::binary_search(out.neighbors(u), v));
    sample.push_back({weight_at(out, v, i), static_cast<double>(out.degree(mine ? u : v)), back});
  }
  return sample;
}

// How much wider buckets may be than in a graph where most edges close a cycle. There is one path
// to each vertex of a tree, so no relaxation is wasted there. The form is measured: where one edge
// in four closes a cycle, as in road networks, 5 is good.
double factor_for_cycles(double edges, double vertices) {
  constexpr double most = 1024;
  const auto per_cycle = edges / std::max(edges - vertices, edges / most);
  return std::clamp(per_cycle * per_cycle / 3, 1.0, most);
}

// 2^floor(log2(factor for cycles * median weight / sqrt(mean degree * mean degree at the ends of
// edges))). A wasted relaxation of a vertex causes more of them, the larger its degree. Vertices
// with a large part of all edges do not count: they are reached early and rarely improved.
//
// arcs      edges of all rows
// linked    vertices with edges
double width_for(std::vector<sampled> sample, double arcs, double linked, double num_vertices) {
  if (sample.empty()) return 1;
  const auto size = static_cast<double>(sample.size());
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end(),
                   [](const auto& a, const auto& b) { return a.weight < b.weight; });
  constexpr double large_part = 1.0 / 16;
  double all_degrees = 0, degrees = 0, ends = 0, back = 0;
  for (const auto& s : sample) {
    back += s.back ? 1 : 0;
    all_degrees += s.degree;
    if (s.degree > large_part * arcs) continue;
    degrees += s.degree;
    ++ends;
  }
  const auto at_all_ends = all_degrees / size;
  const auto at_ends = std::max(1.0, ends > 0 ? degrees / ends : at_all_ends);
  // In a directed graph with hubs most vertices may have no in-edges. They are not reached, so
  // their number says little.
  constexpr double hubs = 4;
  const bool known = back > size / 2 || at_all_ends < hubs;
  const auto factor = known ? factor_for_cycles(arcs * (1 - back / size / 2), linked) : 1;
  const auto width = factor * middle->weight / std::sqrt(arcs / num_vertices * at_ends);
  constexpr double least = 0x1p-1000;  // the reciprocal of a smaller one may be infinite
  if (!(width > 0 && std::isfinite(width))) return 1;
  return std::max(least, std::exp2(std::floor(std::log2(width))));
}

}  // namespace

template <class Id>
edge_lengths measure_lengths(world& w, const graph::dist_csr<Id>& g) {
  const auto mine = look_at_edges(w, g);
  edge_lengths all{.longest = w.reduce<maximum<double>>(mine.longest), .delta = 1};
  expect_finite_distances(w, g, all.longest);
  if (w.size() == 1) all.learned = std::make_shared<search_choices>();
  // To look up a few costs more than to expand them.
  constexpr std::uint64_t one_in = 8;
  if (mine.ends * one_in > (g.directed() ? g.out().num_rows() : mine.rows)) {
    all.ends = std::make_shared<const dead_ends>(w, g);
  }
  const auto arcs = static_cast<double>(w.sum(g.out().num_edges())),
             rows = static_cast<double>(w.sum(mine.rows)),
             vertices = static_cast<double>(g.num_vertices());
  // A vertex without out-edges has in-edges, as a rule.
  all.delta = width_for(w.all_gather_values<sampled>(sample_of(w, g)), arcs,
                        g.directed() ? vertices : rows, vertices);
  if (!g.out().template weighted_by<double>()) all.delta = std::max(1.0, all.delta);
  return all;
}

template edge_lengths measure_lengths(world&, const graph::dist_csr<std::uint32_t>&);
template edge_lengths measure_lengths(world&, const graph::dist_csr<std::uint64_t>&);

}  // namespace cairn::algo
