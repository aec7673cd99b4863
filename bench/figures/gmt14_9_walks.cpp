// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figure 9: random walks, weak scaling on uniform random graphs. V/2 walks by tasks over
// global arrays (examples/models/walks_by_tasks.hpp), Cairn's own walks, whose walkers move between
// ranks, and the MPI program that delegates a walk to the owner of its vertex
// (bench/baselines/walks_mpi.c). All make the same walks, and their visits are compared. The first
// two also run on a simulated cluster, whose clock charges messages and buffers, not what tasks do
// between them.

#include <utility>
#include <vector>

#include <bench/figures/baseline.hpp>
#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <bench/figures/source_lines.hpp>

namespace cairn::bench {
namespace {

struct walks_sweep {
  tasks_job job;
  int rank_scale = 13;       // log2 of the vertices of a rank
  int simulated_scale = 12;  // of a simulated one
  int small_scale = 6;       // of one of very many, which has fewer walkers than tasks
  std::vector<int> ranks{1, 2, 4, 8};
  std::vector<int> simulated{2, 8, 32};
  std::vector<int> small;
};

tasks_job job_of(const walks_sweep& s, int rank_scale, int ranks) {
  auto job = s.job;
  job.which = tasks_job::program::walks_by_tasks;
  job.ranks = ranks;
  job.scale = rank_scale;
  while ((1 << (job.scale - rank_scale)) < ranks) ++job.scale;
  return job;
}

nlohmann::json point_of(const tasks_job& job, const tasks_run& ran, const char* where) {
  auto point = ran.counts();
  point.update({{"where", where},
                {"ranks", job.ranks},
                {"degree", 2 * job.edge_factor},
                {"length", job.length},
                {"tasks", job.tasks}});
  return point;
}

void measure(harness& h, const walks_sweep& s, int ranks, const figure::record_function& record) {
  auto job = job_of(s, s.rank_scale, ranks);
  const job_files files(job);
  job.file = files.graph();
  tasks_run by_tasks;
  const auto seconds = measure_beside(h, job, "walks", files, by_tasks);
  auto point = point_of(job, by_tasks, "local");
  point.update(seconds);
  record(std::move(point));
}

void predict(const walks_sweep& s, bool small, int ranks, const cluster_costs& costs,
             const figure::record_function& record) {
  auto job = job_of(s, small ? s.small_scale : s.simulated_scale, ranks);
  job.repeats = 1;
  const auto run = [&] {
    auto ran = run_job(job, costs);
    if (!ran.fault.empty()) throw wrong_result(ran.fault);
    return ran;
  };
  const auto by_tasks = run();
  auto point = point_of(job, by_tasks, "simulated");
  point["small"] = small;
  point["seconds"] = json_of(summary{by_tasks.seconds, 0, 1});
  job.which = job.own();
  point["cairn_seconds"] = json_of(summary{run().seconds, 0, 1});
  record(std::move(point));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  walks_sweep s;
  figure f;
  f.name = "gmt14_9_walks";
  f.description = "[GMT14] figure 9: random walks by tasks and by delegation, weak scaling.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--rank-scale", s.rank_scale, {1, 26}, "log2 of the vertices of a rank");
    arguments.number("--edge-factor", s.job.edge_factor, {1, 2'000}, "edges drawn per vertex");
    arguments.number("--length", s.job.length, {1, 1 << 20}, "steps of a walk");
    arguments.number("--seed", s.job.seed, {}, "of the graph, and the key of the walks");
    arguments.number("--tasks", s.job.tasks, {1, 1 << 20}, "of a worker");
    arguments.number("--local", s.ranks, {1, 64}, "numbers of local ranks, powers of 2");
    arguments.number("--simulated", s.simulated, {2, 1 << 14}, "numbers of ranks, powers of 2");
    arguments.number("--simulated-scale", s.simulated_scale, {1, 26},
                     "log2 of the vertices of a simulated rank");
    arguments.number("--small", s.small, {2, 1 << 14},
                     "numbers of simulated ranks with few vertices, powers of 2");
    arguments.number("--small-scale", s.small_scale, {1, 26},
                     "log2 of the vertices of such a rank");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    auto costs = costs_here();
    costs.network = cairn::net::loggp{};
    record({{"costs", nlohmann::json::parse(costs.text())},
            {"task_lines", source_lines({"examples/models/walks_by_tasks.hpp",
                                         "examples/models/global_graph.hpp"})},
            {"mpi_lines",
             source_lines({"bench/baselines/walks_mpi.c", "bench/baselines/block_graph.h"})}});
    for (const int ranks : s.ranks) measure(h, s, ranks, record);
    for (const int ranks : s.simulated) predict(s, false, ranks, costs, record);
    for (const int ranks : s.small) predict(s, true, ranks, costs, record);
  };
  return run_figure(argc, argv, f);
}
