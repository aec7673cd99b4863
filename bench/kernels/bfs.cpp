// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search from several sources of a Kronecker graph, by each mechanism and direction,
// and on several ranks with and without the sent-filter. Every run is verified by Graph500's rules.
// The rate is in TEPS: edges of the source's component per second.
//
//   bfs --ranks 2 --threads 1 --kronecker 20

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/activity/mechanism.hpp>
#include <cairn/algo/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/load.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using graph_type = graph::dist_csr<std::uint32_t>;
using result_type = algo::bfs_result<std::uint32_t>;

struct sweep {
  int scale = 20;
  std::size_t num_sources = 4;
  std::uint64_t seed = 1;
  std::vector<std::string> mechanisms{"plain", "atomics", "htm", "locks"};
  std::vector<std::string> directions{"top-down", "bottom-up", "auto"};
};

struct source {
  std::uint32_t vertex;
  std::uint64_t edges;  // of its component
};

const std::vector<std::pair<std::string, traverse::direction>> directions{
    {"top-down", traverse::direction::push},
    {"bottom-up", traverse::direction::pull},
    {"auto", traverse::direction::automatic}};

traverse::direction direction_of(const std::string& name) {
  return std::find_if(directions.begin(), directions.end(),
                      [&](const auto& d) { return d.first == name; })
      ->second;
}

std::uint64_t edges_reached(world& w, const graph_type& g, const result_type& found) {
  std::uint64_t arcs = 0;
  for (auto v = g.out().first(); v < g.out().last(); ++v) {
    if (found.parent.load(v) != no_vertex<std::uint32_t>) arcs += g.out().degree(v);
  }
  return w.sum(arcs) / 2;
}

/// Random vertices of components that have edges.
std::vector<source> draw_sources(world& w, const graph_type& g, const sweep& s) {
  std::vector<source> all;
  random64 draw(s.seed);
  while (all.size() < s.num_sources && g.num_edges() != 0) {
    const auto v = static_cast<std::uint32_t>(draw.below(g.num_vertices()));
    const auto edges = edges_reached(w, g, algo::bfs(w, g, v));
    if (edges != 0) all.push_back({v, edges});
  }
  return all;
}

subject make_subject(world& w, const graph_type& g, const sweep& s, const source& from,
                     const algo::bfs_options& options, const std::string& direction) {
  kernel<const graph_type*, result_type> kern;
  kern.name = "bfs";
  kern.settings = {
      {"kronecker", s.scale},   {"seed", s.seed},
      {"source", from.vertex},  {"ranks", w.size()},
      {"threads", w.workers()}, {"mechanism", activity::name(options.activity.mechanism)},
      {"direction", direction}};
  if (w.size() > 1) kern.settings["sent_filter"] = options.activity.sent_filter;
  kern.item = "traversed_edges";
  kern.num_items = static_cast<double>(from.edges);
  kern.make_input = [&g] { return &g; };
  kern.run = [&w, v = from.vertex, options](const graph_type* on) {
    return algo::bfs(w, *on, v, options);
  };
  kern.verify = [&w, v = from.vertex](const graph_type* on, const result_type& found) {
    return algo::verify_bfs(w, *on, v, found.parent).value_or("");
  };
  kern.counters = [&w] { return counters_of_all(w); };
  return subject(std::move(kern));
}

void measure(world& w, harness& h, const graph_type& g, const sweep& s,
             const std::vector<source>& sources, const algo::bfs_options& options,
             const std::string& direction) {
  std::vector<double> mteps;
  for (const auto& from : sources) {
    auto subject = make_subject(w, g, s, from, options, direction);
    mteps.push_back(1e-6 * subject.num_items / h.measure(subject).time.median);
  }
  if (w.rank() != 0) return;
  const auto rate = summarise(mteps);
  const char* filter = w.size() == 1 ? "" : options.activity.sent_filter ? "on" : "off";
  fmt::print(stderr, "{:>5} {:>7} {:<10} {:<10} {:<6} {:>10.1f} {:>8.1f}\n", w.size(), w.workers(),
             activity::name(options.activity.mechanism), direction, filter, rate.median, rate.mad);
}

/// Why a mechanism cannot run here; empty if it can. The same on all ranks.
std::string obstacle(world& w, activity::mechanism m) {
  if (m == activity::mechanism::plain && w.workers() > 1) return "elements have several writers";
  const bool no_htm = m == activity::mechanism::htm && w.any(!w.transactions().works);
  return no_htm ? w.transactions().reason : "";
}

void run_sweep(world& w, harness& h, const sweep& s) {
  const auto loaded = graph::load(w, graph::generator{graph::kronecker_graph{s.scale}, s.seed});
  const auto& g = std::get<graph_type>(loaded.graph);
  const auto sources = draw_sources(w, g, s);
  if (w.rank() == 0) {
    fmt::print(stderr, "{:>5} {:>7} {:<10} {:<10} {:<6} {:>10} {:>8}   median of {} sources\n",
               "ranks", "threads", "mechanism", "direction", "filter", "MTEPS", "mad",
               sources.size());
  }
  for (const auto& direction : s.directions) {
    auto mechanisms = s.mechanisms;
    if (direction == "bottom-up") mechanisms = {"auto"};  // runs no operators
    for (const auto& mechanism : mechanisms) {
      algo::bfs_options options;
      options.direction = direction_of(direction);
      options.activity.mechanism = activity::parse_mechanism(mechanism);
      const auto why = obstacle(w, options.activity.mechanism);
      if (!why.empty()) {
        if (w.rank() == 0) fmt::print(stderr, "{} skipped: {}\n", mechanism, why);
        continue;
      }
      measure(w, h, g, s, sources, options, direction);
      if (w.size() == 1 || direction == "bottom-up") continue;
      options.activity.sent_filter = false;
      measure(w, h, g, s, sources, options, direction);
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::sweep s;
  return bench::run_program_on_ranks(
      argc, argv, "Breadth-first search over sources of a Kronecker graph.",
      [&](bench::argument_list& arguments) {
        arguments.number("--kronecker", s.scale, {1, 31}, "log2 of the vertices");
        arguments.number("--sources", s.num_sources, {1, 1 << 20},
                         "searches from as many vertices");
        arguments.number("--seed", s.seed, {}, "of graph and sources");
        arguments.word("--mechanisms", s.mechanisms, {"auto", "plain", "atomics", "htm", "locks"},
                       "one or more");
        arguments.word("--directions", s.directions, {"top-down", "bottom-up", "auto"},
                       "one or more");
      },
      [&](world& w, bench::harness& h) { bench::run_sweep(w, h, s); });
}
