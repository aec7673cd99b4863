// SPDX-License-Identifier: Apache-2.0
//
// algorithms N [SEED]: N random graphs over the ranks of this job, in equal blocks or blocks of
// random sizes, each by every algorithm with a mechanism drawn for it, judged by the references.
// Graph i is that of seed SEED + i (SEED is 1 if
// not given): what is told of a wrong result runs again by itself as `algorithms 1 SEED`. Takes
// settings too. Ends with 0 if all was right.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/coloring.hpp>
#include <cairn/algo/components.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/ref/bfs.hpp>
#include <cairn/algo/ref/coloring.hpp>
#include <cairn/algo/ref/components.hpp>
#include <cairn/algo/ref/maxflow.hpp>
#include <cairn/algo/ref/mst.hpp>
#include <cairn/algo/ref/pagerank.hpp>
#include <cairn/algo/ref/st_connectivity.hpp>
#include <cairn/algo/ref/triangles.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/algo/triangles.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/pagerank_judging.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

namespace {

using namespace cairn;
using namespace cairn::algo;

// One graph, and what runs on it: the same draws on every rank, and thus the same collective calls.
// Every rank judges all of each result.
struct trial {
  world& w;
  random64 dice;
  support::plain_graph graph;
  pgas::partition partition;
  std::string what = {};  // runs

  activity::options begin(const std::string& algorithm, const activity::options& how) {
    what = algorithm + " (" + support::told(how) + ")";
    return how;
  }
  activity::options begin(const std::string& algorithm) {
    return begin(algorithm, support::random_activity(dice, w.workers()));
  }
  activity::options begin_multi_cell(const std::string& algorithm) {
    return begin(algorithm, support::random_multi_cell_activity(dice, w.workers()));
  }
  [[nodiscard]] std::string told() const {
    return what + " on " + (graph.directed ? "a directed" : "an undirected") + " graph of " +
           std::to_string(graph.n) + " vertices and " + std::to_string(graph.edges.size()) +
           " edges";
  }
};

void check(bool holds, const std::string& violation) {
  if (!holds) throw std::runtime_error(violation);
}

template <class Id>
void search(trial& t, const graph::dist_csr<Id>& share) {
  const auto root = t.dice.below(t.graph.n);
  bfs_options opt{.direction = static_cast<traverse::direction>(t.dice.below(3)), .depths = true};
  opt.activity = t.begin("bfs from " + std::to_string(root) + " in direction " +
                         std::to_string(static_cast<int>(opt.direction)));
  const auto found = bfs(t.w, share, static_cast<Id>(root), opt);
  const auto arcs = t.graph.arcs();
  const auto violation =
      ref::bfs_violation(t.graph.n, arcs, root, support::whole(t.w, found.parent));
  check(violation.empty(), violation);
  check(support::whole(t.w, *found.depth) == ref::bfs_depths(t.graph.n, arcs, root),
        "a depth is wrong");
}

template <class Id>
void connect(trial& t, const graph::dist_csr<Id>& share) {
  const auto from = t.dice.below(t.graph.n), to = t.dice.below(t.graph.n);
  const st_connectivity_options opt{
      t.begin("st-connectivity of " + std::to_string(from) + " and " + std::to_string(to))};
  const auto found =
      st_connectivity(t.w, share, static_cast<Id>(from), static_cast<Id>(to), opt).connected;
  check(found == ref::reaches(t.graph.n, t.graph.arcs(), from, to),
        found ? "there is no path" : "there is a path");
}

template <class Id>
void colour(trial& t, const graph::dist_csr<Id>& share) {
  const coloring_options opt{.activity = t.begin("coloring"), .seed = t.dice()};
  const auto found = coloring(t.w, share, opt);
  const auto all = t.w.all_gather_values<std::uint32_t>(found.colour.local());
  const auto violation = ref::coloring_violation(t.graph.n, t.graph.arcs(), all);
  check(violation.empty(), violation);
}

template <class Id>
void find_components(trial& t, const graph::dist_csr<Id>& share) {
  components_options opt{.method = static_cast<components_method>(t.dice.below(3))};
  opt.activity = t.begin("cc by method " + std::to_string(static_cast<int>(opt.method)));
  const auto found = components(t.w, share, opt);
  check(support::whole(t.w, found.label) == ref::component_labels(t.graph.n, t.graph.arcs()),
        "a label is wrong");
}

template <class Real, class Id>
void rank_vertices(trial& t, const graph::dist_csr<Id>& share) {
  // Not in place: how that comes to its ranks is for no judge to repeat.
  pagerank_options opt{.variant = static_cast<pagerank_variant>(t.dice.below(3)),
                       .convention = static_cast<pagerank_convention>(t.dice.below(3)),
                       .sweep = pagerank_sweep::jacobi};
  const bool accumulates = t.dice.below(2) == 0;
  opt.activity =
      t.begin("pagerank of " + std::to_string(8 * sizeof(Real)) + " bits, variant " +
              std::to_string(static_cast<int>(opt.variant)) + ", convention " +
              std::to_string(static_cast<int>(opt.convention)) + (accumulates ? ", sums" : ""));
  if (!accumulates) opt.aggregate = std::nullopt;
  const auto found = pagerank<Real>(t.w, share, opt);
  std::vector<double> ranks;
  for (const Real x : t.w.all_gather_values<Real>(found.rank.local())) ranks.push_back(x);
  const auto judge = support::judge_of(t.graph, opt);
  const auto off = ref::pagerank_judge::distance(ranks, judge.after(found.iterations));
  check(off <= support::rounding<Real>(judge, ranks),
        "the ranks are off by " + std::to_string(off) + " after " +
            std::to_string(found.iterations) + " sweeps");
}

template <class Id>
void find_triangles(trial& t, const graph::dist_csr<Id>& share) {
  t.begin("triangles");
  const auto found = triangles(t.w, share, {.per_vertex = true});
  const auto expected = ref::count_triangles(t.graph.n, t.graph.arcs());
  check(found.total == expected.total, "the number of triangles is wrong");
  check(support::whole(t.w, *found.of_vertex) == expected.of_vertex,
        "the number at a vertex is wrong");
}

template <class Id>
void span(trial& t) {
  auto undirected = t.graph;
  undirected.directed = false;
  const auto kind = static_cast<support::weights>(t.dice.below(3));
  const auto g = support::weigh(std::move(undirected), kind, -4, t.dice);
  const auto merge = static_cast<mst_merge>(t.w.size() == 1 ? 0 : t.dice.below(3));
  const auto opt = t.begin_multi_cell("mst by weights " + std::to_string(static_cast<int>(kind)) +
                                      ", merge " + std::to_string(static_cast<int>(merge)));
  const auto share = support::share_of<Id>(g, t.w.rank(), t.partition);
  const auto found = mst(t.w, share, {.activity = opt, .merge = merge}).edges;
  std::vector<ref::weighted_edge> all;
  for (const auto& e : t.w.all_gather_values<mst_edge<Id>>(found)) {
    all.push_back({e.source, e.target, e.weight});
  }
  check(all == ref::kruskal(g.graph.n, g.edges), "this is not the least forest");
}

template <class Id>
void flow(trial& t) {
  const auto n = t.graph.n;
  if (n < 2) return;
  const auto from = t.dice.below(n), to = (from + 1 + t.dice.below(n - 1)) % n;
  const auto g = support::weigh(t.graph, support::weights::whole, 0, t.dice);
  const auto opt =
      t.begin_multi_cell("maxflow from " + std::to_string(from) + " to " + std::to_string(to));
  const auto share = support::share_of<Id>(g, t.w.rank(), t.partition);
  const auto found =
      maxflow(t.w, share, static_cast<Id>(from), static_cast<Id>(to), {.activity = opt}).value;
  const auto expected = ref::edmonds_karp(n, g.capacities(), from, to);
  check(found == expected,
        "the flow is " + std::to_string(found) + ", expected " + std::to_string(expected));
}

template <class Id>
void run_all(trial& t) {
  const auto share = support::share_of<Id>(t.graph, t.w.rank(), t.partition);
  search(t, share);
  connect(t, share);
  colour(t, share);
  find_components(t, share);
  if (t.dice.below(2) == 0) {
    rank_vertices<float>(t, share);
  } else {
    rank_vertices<double>(t, share);
  }
  find_triangles(t, share);
  span<Id>(t);
  flow<Id>(t);
}

void run_graph(world& w, std::uint64_t seed) {
  random64 dice(seed);
  auto graph = dice.below(4) == 0 ? support::two_halves(dice) : support::random_graph(dice());
  auto partition = support::random_partition(graph.n, w.size(), dice);
  trial t{w, dice, std::move(graph), std::move(partition)};
  try {
    if (t.dice.below(2) == 0) {
      run_all<std::uint32_t>(t);
    } else {
      run_all<std::uint64_t>(t);
    }
  } catch (const peer_failure&) {
    throw;
  } catch (const std::exception& e) {
    throw std::runtime_error("seed " + std::to_string(seed) + ": " + t.told() + ": " + e.what());
  }
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) {
    throw usage_error("'" + text + "' is not a number: algorithms N [SEED]");
  }
  return value;
}

int body(world& w, std::span<const std::string> arguments) {
  if (arguments.empty() || arguments.size() > 2) throw usage_error("algorithms N [SEED]");
  const auto graphs = number(arguments[0]);
  const auto first = arguments.size() == 2 ? number(arguments[1]) : 1;
  for (std::uint64_t i = 0; i < graphs; ++i) {
    run_graph(w, first + i);
    if (w.rank() != 0 || (i + 1) % 1'000 != 0) continue;
    std::printf("%llu graphs\n", static_cast<unsigned long long>(i + 1));
    std::fflush(stdout);
  }
  if (w.rank() == 0) {
    std::printf("%llu graphs from seed %llu: right by every algorithm\n",
                static_cast<unsigned long long>(graphs), static_cast<unsigned long long>(first));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return cairn::launch(argc, argv, body); }
