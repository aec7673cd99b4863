// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figures 7 and 8: breadth-first search by tasks over global arrays on uniform random
// graphs (examples/models/bfs_by_tasks.hpp). Weak scaling has a fixed number of vertices per rank
// and several degrees, strong scaling a fixed total and the first degree. On local ranks it is
// compared with Cairn's own search and with a search by one-sided gets
// (bench/baselines/bfs_gets_mpi.c, instead of the program in UPC).
//
// Each run is compared with Cairn's search, which is verified. The simulated clock charges messages
// and buffers, not what tasks do between them.

#include <algorithm>
#include <utility>
#include <vector>

#include <bench/figures/baseline.hpp>
#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <bench/figures/source_lines.hpp>

namespace cairn::bench {
namespace {

using record_function = figure::record_function;

struct search_sweep {
  tasks_job job;
  int scale = 13;                 // log2 of all vertices: strong scaling
  int rank_scale = 12;            // log2 of those of a rank: weak scaling
  int simulated_rank_scale = 12;  // of those of a simulated one
  int small_rank_scale = 6;       // of those of one of very many, which has too few tasks
  std::vector<int> edge_factors{16, 64};
  std::vector<int> local{1, 2, 4, 8};
  std::vector<int> simulated{2, 4, 8, 16};
  std::vector<int> small;        // numbers of simulated ranks with few vertices, weak scaling
  std::vector<int> dense{2, 4};  // numbers of ranks, of either kind, for other edge factors
};

// Of powers of two.
int log2_of(int n) {
  int log = 0;
  while ((1 << log) < n) ++log;
  return log;
}

// A graph of four times the degree has half as many vertices, but a rank has at least as many as
// the degree: parallel edges are dropped.
tasks_job job_of(const search_sweep& s, bool weak, int edge_factor, int ranks) {
  auto job = s.job;
  job.ranks = ranks;
  job.edge_factor = edge_factor;
  const auto first = s.edge_factors.front();
  auto rank_scale = s.rank_scale;
  if (edge_factor != first) {
    rank_scale = std::max(log2_of(2 * edge_factor),
                          rank_scale - log2_of(std::max(1, edge_factor / first)) / 2);
  }
  job.scale = weak ? rank_scale + log2_of(ranks) : s.scale;
  return job;
}

nlohmann::json point_of(const tasks_job& job, const tasks_run& ran, bool weak, const char* where) {
  auto point = ran.counts();
  point.update({{"where", where},
                {"scaling", weak ? "weak" : "strong"},
                {"program", job.name()},
                {"ranks", job.ranks},
                {"degree", 2 * job.edge_factor},
                {"tasks", job.tasks}});
  return point;
}

void measure_here(harness& h, const search_sweep& s, bool weak, int edge_factor,
                  const record_function& record) {
  for (const int ranks : edge_factor == s.edge_factors.front() ? s.local : s.dense) {
    const auto job = job_of(s, weak, edge_factor, ranks);
    tasks_run by_tasks;
    const auto seconds = measure_beside(h, job, "bfs_gets", job_files(job), by_tasks);
    auto point = point_of(job, by_tasks, weak, "local");
    point.update(seconds);
    record(std::move(point));
  }
}

nlohmann::json predict(tasks_job job, bool weak, const cluster_costs& costs) {
  job.repeats = 1;
  const auto ran = run_job(job, costs);
  if (!ran.fault.empty()) throw wrong_result(ran.fault);
  auto point = point_of(job, ran, weak, "simulated");
  point["seconds"] = json_of(summary{ran.seconds, 0, 1});
  return point;
}

void predict_all(search_sweep s, bool weak, int edge_factor, const cluster_costs& costs,
                 const record_function& record) {
  const bool first = edge_factor == s.edge_factors.front();
  s.rank_scale = s.simulated_rank_scale;
  for (const int ranks : first ? s.simulated : s.dense) {
    record(predict(job_of(s, weak, edge_factor, ranks), weak, costs));
  }
  if (!first || !weak) return;
  s.rank_scale = s.small_rank_scale;
  for (const int ranks : s.small) {
    auto point = predict(job_of(s, weak, edge_factor, ranks), weak, costs);
    point["small"] = true;
    record(std::move(point));
  }
}

void sweep(harness& h, const search_sweep& s, const record_function& record) {
  auto costs = costs_here();
  costs.network = net::loggp{};
  record({{"costs", nlohmann::json::parse(costs.text())},
          {"task_lines",
           source_lines({"examples/models/bfs_by_tasks.hpp", "examples/models/global_graph.hpp"})},
          {"mpi_lines",
           source_lines({"bench/baselines/bfs_gets_mpi.c", "bench/baselines/block_graph.h"})}});
  for (const int edge_factor : s.edge_factors) {
    for (const bool weak : {true, false}) {
      if (!weak && edge_factor != s.edge_factors.front()) continue;
      measure_here(h, s, weak, edge_factor, record);
      predict_all(s, weak, edge_factor, costs, record);
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  search_sweep s;
  figure f;
  f.name = "gmt14_7_bfs";
  f.description =
      "[GMT14] figures 7 and 8: breadth-first search by tasks, weak and strong scaling.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--scale", s.scale, {1, 26}, "log2 of the vertices of strong scaling");
    arguments.number("--rank-scale", s.rank_scale, {1, 26},
                     "log2 of the vertices of a rank of weak scaling");
    arguments.number("--simulated-scale", s.simulated_rank_scale, {1, 26},
                     "log2 of the vertices of a simulated rank of weak scaling");
    arguments.number("--edge-factor", s.edge_factors, {1, 2'000},
                     "edges drawn per vertex, one or more; of strong scaling the first");
    arguments.number("--seed", s.job.seed, {}, "of graph and source");
    arguments.number("--tasks", s.job.tasks, {1, 1 << 20}, "of a worker");
    arguments.number("--local", s.local, {1, 64}, "numbers of ranks that are threads, powers of 2");
    arguments.number("--simulated", s.simulated, {2, 1 << 14}, "numbers of ranks, powers of 2");
    arguments.number("--small", s.small, {2, 1 << 14},
                     "numbers of simulated ranks with few vertices, powers of 2; weak scaling");
    arguments.number("--small-scale", s.small_rank_scale, {1, 26},
                     "log2 of the vertices of such a rank");
    arguments.number("--dense", s.dense, {2, 1 << 14},
                     "numbers of ranks, threads and simulated, for edge factors after the first");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
