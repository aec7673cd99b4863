// SPDX-License-Identifier: Apache-2.0
//
// Top-down search by operators with the plain mechanism, on one worker, against a hand-written
// loop: that of the GAP benchmark suite ([Beamer12]), which claims a parent by compare-and-swap.
// Both search the same graph from the same source, and both results are verified.
//
//   top_down --threads 1 --scale 14

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/hw/pages.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using graph_type = graph::dist_csr<std::uint32_t>;

using hand_parents = hw::page_buffer<std::int32_t>;  // negative: not reached

hand_parents by_hand(const graph_type& g, std::uint32_t root) {
  const auto n = static_cast<std::size_t>(g.num_vertices());
  hw::page_buffer<std::int32_t> parents(n);
  for (std::size_t v = 0; v < n; ++v) {
    const auto degree = static_cast<std::int32_t>(g.out().degree(static_cast<std::uint32_t>(v)));
    parents[v] = degree != 0 ? -degree : -1;
  }
  hw::page_buffer<std::uint32_t> queue(n);
  std::size_t begin = 0, end = 0;
  parents[root] = static_cast<std::int32_t>(root);
  queue[end++] = root;
  while (begin != end) {
    const auto level = end;
    for (; begin != level; ++begin) {
      const auto u = queue[begin];
      for (const auto v : g.out().neighbors(u)) {
        auto found = parents[v];
        if (found >= 0) continue;
        if (std::atomic_ref(parents[v])
                .compare_exchange_strong(found, static_cast<std::int32_t>(u))) {
          queue[end++] = v;
        }
      }
    }
  }
  return parents;
}

void measure(world& w, harness& h, int scale, bool uniform) {
  const graph::generator drawn = uniform ? graph::generator{graph::uniform_graph{scale}, 1}
                                         : graph::generator{graph::kronecker_graph{scale}, 1};
  const auto loaded = graph::load(w, drawn);
  const auto& g = std::get<graph_type>(loaded.graph);
  std::uint32_t root = 0;
  while (g.out().degree(root) == 0) ++root;

  kernel<int, hand_parents> hand;
  hand.name = "top_down_by_hand";
  hand.settings = {{uniform ? "uniform" : "kronecker", scale}};
  hand.item = "searches";
  hand.num_items = 1;
  hand.make_input = [] { return 0; };
  hand.run = [&](int) { return by_hand(g, root); };
  hand.verify = [&](int, const hand_parents& found) {
    pgas::vertex_map<std::uint32_t> parent(w, g.partition(), no_vertex<std::uint32_t>);
    for (std::size_t v = 0; v < found.size(); ++v) {
      if (found[v] >= 0) parent.local()[v] = static_cast<std::uint32_t>(found[v]);
    }
    return algo::verify_bfs(w, g, root, parent).value_or("");
  };
  using result = algo::bfs_result<std::uint32_t>;
  kernel<int, result> cairn;
  cairn.name = "top_down";
  cairn.settings = hand.settings;
  cairn.item = hand.item;
  cairn.num_items = 1;
  cairn.make_input = hand.make_input;
  cairn.run = [&](int) { return algo::bfs(w, g, root, {.direction = traverse::direction::push}); };
  cairn.verify = [&](int, const result& r) {
    return algo::verify_bfs(w, g, root, r.parent).value_or("");
  };
  subject ours(std::move(cairn)), theirs(std::move(hand));
  const auto both = h.compare(ours, theirs);
  fmt::print(stderr, "{:>10} {:>11} {:>8} {:>8}\n", "cairn, us", "by hand, us", "ratio", "mad");
  fmt::print(stderr, "{:>10.1f} {:>11.1f} {:>8.3f} {:>8.3f}\n", 1e6 * both.first.time.median,
             1e6 * both.second.time.median, both.ratio.median, both.ratio.mad);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  int scale = 14;
  bool uniform = false;
  return cairn::bench::run_program_on_ranks(
      argc, argv, "Top-down search by operators, beside a loop written by hand.",
      [&](cairn::bench::argument_list& arguments) {
        arguments.number("--scale", scale, {1, 28}, "log2 of the vertices");
        arguments.flag("--uniform", uniform, "a uniform graph, not a Kronecker graph");
      },
      [&](cairn::world& w, cairn::bench::harness& h) {
        if (w.size() > 1 || w.workers() > 1)
          throw cairn::usage_error("top_down compares one worker: --ranks 1 --threads 1");
        cairn::bench::measure(w, h, scale, uniform);
      });
}
