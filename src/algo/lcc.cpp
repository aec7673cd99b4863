// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <cairn/algo/lcc.hpp>
#include <cairn/algo/triangles.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/inner_edges.hpp"

namespace cairn::algo {
namespace {

// Branch-free, because branches on ids would be unpredictable.
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

}  // namespace

template <class Id>
lcc_result lcc(world& w, const graph::dist_csr<Id>& g, const lcc_options& opt) {
  g.expect_in();
  std::optional<pgas::vertex_map<std::uint64_t>> counts;
  activity::ran ran{activity::mechanism::plain, 1, "no operators: rows are intersected"};
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
