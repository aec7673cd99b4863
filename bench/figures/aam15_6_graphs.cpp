// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 6: breadth-first search on Kronecker graphs of several sizes and degrees, by
// atomics, by coarse hardware transactions, and by bench/baselines/bfs_threads.hpp. The long form
// continues with larger graphs while memory suffices to build them.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cairn/graph/memory.hpp>
#include <cairn/hw/memory.hpp>

#include <bench/figures/figure.hpp>
#include <bench/figures/grain_option.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;

struct graph_sweep {
  search_options common;
  std::vector<int> scales{12, 13, 14, 15, 16}, degrees{1, 4, 16, 64};
  std::size_t grain = activity::start_values{}.htm_grain;
  bool to_memory = false;
};

constexpr int degree_of_scales = 16;

/// The scales, and with to_memory all larger ones that can be built.
std::vector<int> all_scales(const graph_sweep& s) {
  auto scales = s.scales;
  const auto fits = [&](int scale) {
    const auto n = std::uint64_t{1} << scale;
    const graph::build_size size{.num_vertices = n,
                                 .num_edges = degree_of_scales * n,
                                 .symmetric = true,
                                 .with_edges = true};
    return graph::bytes_to_build(size, 1) < hw::available_memory();
  };
  while (s.to_memory && scales.back() < 31 && fits(scales.back() + 1)) {
    scales.push_back(scales.back() + 1);
  }
  return scales;
}

void measure(harness& h, const graph_sweep& s, int scale, int degree, int threads,
             const figure::record_function& record) {
  auto options = s.common;
  options.scale = scale;
  options.edge_factor = degree;
  search_stage stage(options, threads);
  search_log atomics_log, htm_log;
  auto by_hand = stage.by_hand();
  auto atomics = stage.search({.mechanism = mechanism::atomics}, atomics_log);
  const auto c = h.compare(by_hand, atomics);
  nlohmann::json point{{"threads", threads},
                       {"scale", scale},
                       {"degree", degree},
                       {"by_hand", json_of(c.first.time)},
                       {"atomics", json_of(c.second.time)},
                       {"by_hand_ratio", json_of(c.ratio)}};
  if (stage.on().transactions().works) {
    auto htm = stage.search({.mechanism = mechanism::htm, .grain = s.grain}, htm_log);
    const auto gain = h.compare(atomics, htm);
    point["htm"] = json_of(gain.second.time);
    point["ratio"] = json_of(gain.ratio);
  }
  record(std::move(point));
}

void sweep(harness& h, const graph_sweep& s, const figure::record_function& record) {
  for (const int threads : s.common.threads) {
    for (const int scale : all_scales(s)) measure(h, s, scale, degree_of_scales, threads, record);
    for (const int degree : s.degrees) {
      if (degree != degree_of_scales) measure(h, s, s.scales.front(), degree, threads, record);
    }
  }
  const auto probe = hw::probe_transactions();
  if (!probe.works) record({{"no_htm", probe.reason}});
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  graph_sweep s;
  s.common.threads = {s.common.threads.back()};
  figure f;
  f.name = "aam15_6_graphs";
  f.description = "[AAM15] figure 6: a search over vertices and degrees.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--scales", s.scales, {4, 31}, "log2 of the vertices, of degree 16");
    arguments.flag("--to-memory", s.to_memory, "then larger ones, up to the memory");
    arguments.number("--degrees", s.degrees, {1, 1 << 10},
                     "edges drawn by vertex, at the first scale");
    arguments.number("--threads", s.common.threads, {1, 4096}, "one or more");
    add_grain(arguments, s.grain);
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
