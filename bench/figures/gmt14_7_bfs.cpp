// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figures 7 and 8: breadth-first search by tasks over global arrays on uniform random
// graphs (examples/models/bfs_by_tasks.hpp). Weak scaling has a fixed number of vertices per rank,
// strong scaling a fixed total. On local ranks it is compared with Cairn's own search and with a
// search by one-sided gets (bench/baselines/bfs_gets_mpi.c, instead of the program in UPC).
//
// Each run is compared with Cairn's search, which is verified. The simulated clock charges messages
// and buffers, not what tasks do between them.

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
  int scale = 13;       // log2 of all vertices: strong scaling
  int rank_scale = 12;  // log2 of those of a rank: weak scaling
  std::vector<int> local{1, 2, 4, 8};
  std::vector<int> simulated{2, 4, 8, 16};
};

// Weak scaling takes powers of two.
int log2_of(int ranks) {
  int log = 0;
  while ((1 << log) < ranks) ++log;
  return log;
}

tasks_job job_of(const search_sweep& s, bool weak, int ranks) {
  auto job = s.job;
  job.ranks = ranks;
  job.scale = weak ? s.rank_scale + log2_of(ranks) : s.scale;
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

void measure_here(harness& h, const search_sweep& s, bool weak, const record_function& record) {
  for (const int ranks : s.local) {
    const auto job = job_of(s, weak, ranks);
    tasks_run by_tasks;
    const auto seconds = measure_beside(h, job, "bfs_gets", job_files(job), by_tasks);
    auto point = point_of(job, by_tasks, weak, "local");
    point.update(seconds);
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
  for (const bool weak : {true, false}) {
    measure_here(h, s, weak, record);
    for (const int ranks : s.simulated) {
      auto job = job_of(s, weak, ranks);
      job.repeats = 1;
      const auto ran = run_job(job, costs);
      if (!ran.fault.empty()) throw wrong_result(ran.fault);
      auto point = point_of(job, ran, weak, "simulated");
      point["seconds"] = json_of(summary{ran.seconds, 0, 1});
      record(std::move(point));
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
    arguments.number("--edge-factor", s.job.edge_factor, {1, 2'000}, "edges drawn per vertex");
    arguments.number("--seed", s.job.seed, {}, "of graph and source");
    arguments.number("--tasks", s.job.tasks, {1, 1 << 20}, "of a worker");
    arguments.number("--local", s.local, {1, 64}, "numbers of ranks that are threads, powers of 2");
    arguments.number("--simulated", s.simulated, {2, 1 << 14}, "numbers of ranks, powers of 2");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
