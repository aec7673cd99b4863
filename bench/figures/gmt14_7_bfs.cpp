// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figures 7 and 8: breadth-first search by tasks over global arrays on uniform random
// graphs (examples/models/bfs_by_tasks.hpp). Weak scaling has so many vertices per rank, strong
// scaling so many in all. On local ranks Cairn's own search and the search of one-sided gets
// (bench/baselines/bfs_gets_mpi.c, in place of the program in UPC) do the same beside it.
//
// Each run is compared with Cairn's search, which is verified. The simulated clock charges messages
// and buffers, not what tasks do between them.

#include <string>
#include <tests/support/temporary_folder.hpp>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>
#include <bench/figures/tasks.hpp>

namespace cairn::bench {
namespace {

using record_function = figure::record_function;

struct search_sweep {
  tasks_job job;
  int scale = 13;       // log2 of all vertices: strong scaling
  int rank_scale = 12;  // log2 of those of a rank: weak scaling
  std::vector<int> here{1, 2, 4, 8};
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

nlohmann::json point_of(const tasks_job& job, const tasks_run& ran, bool weak, const char* where,
                        const summary& time) {
  auto point = ran.counts();
  point.update({{"where", where},
                {"scaling", weak ? "weak" : "strong"},
                {"program", job.name()},
                {"ranks", job.ranks},
                {"degree", 2 * job.edge_factor},
                {"tasks", job.tasks},
                {"seconds", json_of(time)}});
  return point;
}

// The graph and the depths as files, for the baseline.
class files {
 public:
  explicit files(const tasks_job& job) : source_(source_of(job)) {
    const auto cairn = program_folder() + "/../bin/cairn";
    make(fmt::format("'{}' generate --uniform {}:{} --seed {} '{}' --quiet", cairn, job.scale,
                     job.edge_factor, job.seed, graph()));
    make(fmt::format("'{}' bfs '{}' --source {} --output '{}' --quiet", cairn, graph(), source_,
                     depths()));
  }
  [[nodiscard]] std::string arguments() const {
    return fmt::format("--graph '{}' --root {} --expect '{}' --runs 3", graph(), source_, depths());
  }

 private:
  static void make(const std::string& command) { static_cast<void>(json_lines_of(command)); }
  [[nodiscard]] std::string graph() const { return folder_ / "graph.el"; }
  [[nodiscard]] std::string depths() const { return folder_ / "depths.csv"; }

  support::temporary_folder folder_;
  std::uint64_t source_;
};

void measure_here(harness& h, const search_sweep& s, bool weak, const record_function& record) {
  for (const int ranks : s.here) {
    const auto job = job_of(s, weak, ranks);
    auto own_job = job;
    own_job.which = tasks_job::program::bfs;
    tasks_run by_tasks, own;
    auto tasks = as_subject(job, by_tasks);
    auto cairn = as_subject(own_job, own);
    std::vector<subject*> turns{&tasks, &cairn};
    const auto commands = mpi_commands("bfs_gets", ranks);
    std::vector<subject> by_hand;
    const files input(job);
    if (!commands.empty()) {
      by_hand.push_back(
          process("bfs by gets", {{"ranks", ranks}}, commands.front() + " " + input.arguments()));
      turns.push_back(&by_hand.front());
    }
    const auto times = h.measure_alternating(turns);
    auto point = point_of(job, by_tasks, weak, "local", times[0].time);
    point["cairn_seconds"] = json_of(times[1].time);
    if (!by_hand.empty()) point["mpi_seconds"] = json_of(times[2].time);
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
      record(point_of(job, ran, weak, "simulated", {ran.seconds, 0, 1}));
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
    arguments.number("--here", s.here, {1, 64}, "numbers of ranks that are threads, powers of 2");
    arguments.number("--simulated", s.simulated, {2, 1 << 14}, "numbers of ranks, powers of 2");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
