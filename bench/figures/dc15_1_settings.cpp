// SPDX-License-Identifier: Apache-2.0
//
// [DC15] figure 1: shortest paths by Distributed Control, delta-stepping and chaotic relaxation on
// Graph500 graphs of several scales and on a grid, under sets of settings of the runtime:
//
//   coalesced  buffers of the transport's size, and the filter at the sender
//   prompt     buffers of 64 bytes, and the filter
//   alone      buffers of 8 bytes, and no filter
//
// Delta-stepping runs a second time with sorted receive buffers. Local ranks are measured by wall
// time; a simulated cluster predicts the time. The paper compares two runtimes.

#include <string>
#include <utility>
#include <vector>

#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <bench/figures/paths.hpp>

namespace cairn::bench {
namespace {

struct settings_sweep {
  paths_job job;
  std::vector<int> scales{13, 14, 15, 16};
  std::vector<int> widths{0, 16};  // of buckets; 0: chosen by the algorithm
  std::vector<std::string> graphs{"kronecker", "grid"};
  std::vector<int> simulated_scales{13, 14, 15};
  int simulated = 8;  // ranks
};

struct variant {
  std::string setting;
  paths_job job;
  paths_run last = {};
};

/// The algorithms and widths under all settings.
std::vector<variant> variants_of(const settings_sweep& s, const std::string& graph, int scale) {
  using algo::sssp_method;
  std::vector<variant> all;
  auto job = s.job;
  job.graph = graph;
  job.scale = scale;
  const auto add = [&](const char* setting, std::size_t bytes, bool filter) {
    job.world.coalesce_bytes = bytes;
    job.sent_filter = filter;
    for (const auto by : {sssp_method::distributed_control, sssp_method::delta}) {
      for (const auto width : s.widths) {
        job.by = by;
        job.delta = width;
        all.push_back({setting, job});
        if (by != sssp_method::delta) continue;
        job.sort_received = true;
        all.push_back({setting, job});
        job.sort_received = false;
      }
    }
    job.by = sssp_method::chaotic;
    job.delta = 0;
    all.push_back({setting, job});
  };
  add("coalesced", 0, true);
  add("prompt", 64, true);
  add("alone", 8, false);
  return all;
}

nlohmann::json point_of(const variant& v, const char* where, const nlohmann::json& seconds) {
  auto point = v.last.counts();
  point.update(
      {{"where", where},
       {"ranks", v.job.ranks},
       {"setting", v.setting},
       {"graph", v.job.graph},
       {"scale", v.job.scale},
       {"by", std::string(algo::enum_name(v.job.by)) + (v.job.sort_received ? ", sorted" : "")},
       {"delta", v.job.delta},
       {"seconds", seconds}});
  return point;
}

void measure_here(harness& h, std::vector<variant> all, const figure::record_function& record) {
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (auto& v : all) subjects.push_back(as_subject(v.job, v.last));
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  for (std::size_t i = 0; i < all.size(); ++i) {
    record(point_of(all[i], "local", json_of(measured[i].time)));
  }
}

void predict(const settings_sweep& s, variant v, const figure::record_function& record) {
  v.job.ranks = s.simulated;
  v.job.repeats = 1;
  v.last = find_paths(v.job, cluster_costs{});
  if (!v.last.fault.empty()) throw wrong_result(v.last.fault);
  record(point_of(v, "simulated", json_of({v.last.seconds, 0, 1})));
}

void sweep(harness& h, const settings_sweep& s, const figure::record_function& record) {
  for (const auto& graph : s.graphs) {
    for (const int scale : s.scales) measure_here(h, variants_of(s, graph, scale), record);
    for (const int scale : s.simulated_scales) {
      for (const auto& v : variants_of(s, graph, scale)) predict(s, v, record);
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  settings_sweep s;
  figure f;
  f.name = "dc15_1_settings";
  f.description = "[DC15] figure 1: algorithms for shortest paths under three sets of settings.";
  f.add_options = [&](argument_list& arguments) {
    arguments.word("--graphs", s.graphs, {"kronecker", "uniform", "grid"}, "one or more");
    arguments.number("--scales", s.scales, {1, 24}, "log2 of the vertices, one or more");
    arguments.number("--simulated-scales", s.simulated_scales, {1, 24},
                     "the same for simulated ranks");
    arguments.number("--seed", s.job.seed, {}, "of graph, weights and source");
    arguments.number("--local", s.job.ranks, {1, 64}, "ranks that are threads");
    arguments.number("--simulated", s.simulated, {1, 1 << 10}, "simulated ranks");
    arguments.number("--widths", s.widths, {0, 1 << 30}, "of buckets, one or more; 0: chosen");
    arguments.number("--repeats", s.job.repeats, {1, 1 << 10}, "searches of a run");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
