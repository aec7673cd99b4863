// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/algo/lcc.hpp>
#include <cairn/algo/triangles.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/triangle_counter.hpp"

namespace cairn::algo {
namespace {

std::uint64_t bit(const std::uint64_t* bits, std::uint64_t v) {
  return bits[v / 64] >> (v % 64) & 1;
}

// Without branches on ids, which would be unpredictable.
template <class Id>
std::uint64_t num_distinct(std::span<const Id> row, std::uint64_t except) {
  if (row.empty()) return 0;
  std::uint64_t n = row[0] != except;
  for (std::size_t i = 1; i < row.size(); ++i) n += (row[i] != row[i - 1]) & (row[i] != except);
  return n;
}

// The ends of v's edges, each once, without v.
template <class Id>
std::uint64_t num_neighbors(const graph::dist_csr<Id>& g, std::uint64_t v) {
  const auto out = g.out().neighbors(v);
  if (!g.directed()) return num_distinct(out, v);
  const auto in = g.in().neighbors(v);
  std::uint64_t in_both = 0;
  Id last = no_vertex<Id>;
  for (std::size_t i = 0, j = 0; i < out.size() && j < in.size();) {
    const Id a = out[i], b = in[j];
    in_both += (a == b) & (a != last) & (a != v);
    last = a == b ? a : last;
    i += a <= b;
    j += b <= a;
  }
  return num_distinct(out, v) + num_distinct(in, v) - in_both;
}

// Counts, for each vertex of a directed graph, the edges between its neighbours.
template <class Id>
class inner_edges {
 public:
  inner_edges(world& w, const graph::dist_csr<Id>& g)
      : w_(w),
        joined_(w, g),
        both_(w, g, kept_pairs::joined_both_ways),
        counter_(w, g, true),
        marks_(w, g.num_vertices()),
        both_marks_(w, g.num_vertices()) {
    if (w.size() > 1) {
      joined_.visit(
          w, g.partition(),
          [&](worker_t k, Id v, auto row, auto here, auto both) {
            counter_.add(k, [&](auto& count_for) { return at(k, v, row, here, both, count_for); });
          },
          &both_);
      return;
    }
    counter_.by_ranges([&](auto&& f) { joined_.for_ranges(w, f); },
                       [&](worker_t k, std::size_t v, std::size_t last, auto& count_for) {
                         triangle_count all;
                         for (; v < last; ++v) {
                           const auto row = joined_.row(v);
                           if (row.size() < 2) continue;
                           for (const Id& u : row) prefetch_ahead(joined_, &u);
                           all += at(k, static_cast<Id>(v), row, row, both_.row(v), count_for);
                         }
                         return all;
                       });
  }

  [[nodiscard]] pgas::vertex_map<std::uint64_t> of_vertex() { return counter_.of_vertex(); }

 private:
  // The triangles whose first vertex is v and whose second is `here`. Each of the three vertices
  // gets the number of edges between the other two: 2 if edges join them both ways, else 1.
  //
  // both    the part of v's row that is joined to v both ways
  template <class CountFor>
  [[gnu::always_inline]] triangle_count at(worker_t k, Id v, std::span<const Id> row,
                                           std::span<const Id> here, std::span<const Id> both,
                                           CountFor& count_for) {
    auto* const marks = marks_[k];
    auto* const both_marks = both_marks_[k];
    mark(row, marks);
    mark(both, both_marks);
    triangle_count all;
    std::uint64_t of_v = 0;
    for (const Id u : here) {
      const auto of_third = 1 + bit(both_marks, u);
      std::uint64_t of_u = 0;
      const auto thirds = joined_.row(u - joined_.first());
      const auto both_of_u = both_.row(u - joined_.first());
      for (const Id x : thirds) {
        const auto joined = bit(marks, x);
        of_v += joined;
        of_u += joined + bit(both_marks, x);
        if constexpr (counts_per_vertex<CountFor>) {
          if (joined != 0) count_for(x, of_third);
        }
      }
      for (const Id x : both_of_u) of_v += bit(marks, x);
      if (of_u != 0) count_for(u, of_u);
      all += {0, thirds.size() + both_of_u.size()};
    }
    unmark(row, marks);
    unmark(both, both_marks);
    if (of_v != 0) count_for(v, of_v);
    return all;
  }

  world& w_;
  const oriented_rows<Id> joined_, both_;
  triangle_counter<Id> counter_;
  bit_marks marks_, both_marks_;
};

}  // namespace

template <class Id>
lcc_result lcc(world& w, const graph::dist_csr<Id>& g, const lcc_options& opt) {
  CAIRN_EXPECTS(g.has_in(), "in-edges are needed: load the graph with .inverse = true");
  std::optional<pgas::vertex_map<std::uint64_t>> counts;
  activity::ran ran{activity::mechanism::plain, 1, "pairs joined both ways are marked apart"};
  if (g.directed()) {
    counts = inner_edges<Id>(w, g).of_vertex();
  } else {
    auto found = triangles(w, g, {.activity = opt.activity, .per_vertex = true});
    counts = std::move(found.of_vertex);
    ran = std::move(found.ran);
  }
  pgas::vertex_map<double> coefficient(w, g.partition(), 0);
  task::per_worker<double> sums(w.workers());
  traverse::for_each_own(
      w, coefficient,
      [&](worker_t k, std::uint64_t v) {
        const auto edges = counts->load(v) * (g.directed() ? 1 : 2);
        if (edges == 0) return;
        const auto d = num_neighbors(g, v);
        const auto x = static_cast<double>(edges) / static_cast<double>(d * (d - 1));
        coefficient.store(v, x);
        sums[k] += x;
      },
      10);
  double sum = 0;
  for (const auto& s : sums) sum += s.value;
  const auto n = g.num_vertices();
  return {std::move(coefficient), n == 0 ? 0 : w.sum(sum) / static_cast<double>(n), std::move(ran)};
}

template lcc_result lcc(world&, const graph::dist_csr<std::uint32_t>&, const lcc_options&);
template lcc_result lcc(world&, const graph::dist_csr<std::uint64_t>&, const lcc_options&);

}  // namespace cairn::algo
