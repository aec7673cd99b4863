// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figure 9: random walks, weak scaling on uniform random graphs. V/2 walks by tasks over
// global arrays (examples/models/walks_by_tasks.hpp), Cairn's own walks, whose walkers travel, and
// the MPI program that delegates a walk to the owner of its vertex (bench/baselines/walks_mpi.c).
// All take the same walks: their visits are compared.

#include <string>
#include <tests/support/temporary_folder.hpp>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>
#include <bench/figures/tasks.hpp>

namespace cairn::bench {
namespace {

struct walks_sweep {
  tasks_job job;
  int rank_scale = 13;  // log2 of the vertices of a rank
  std::vector<int> ranks{1, 2, 4, 8};
};

// The graph and the visits as files, which all programs read.
class files {
 public:
  files(const tasks_job& job, int scale) {
    const auto cairn = program_folder() + "/../bin/cairn";
    make(fmt::format("'{}' generate --uniform {}:{} --seed {} '{}' --quiet", cairn, scale,
                     job.edge_factor, job.seed, graph()));
    make(fmt::format("'{}' walk '{}' --length {} --key {} --output '{}' --quiet", cairn, graph(),
                     job.length, job.seed, visits()));
  }
  [[nodiscard]] std::string arguments(const tasks_job& job) const {
    return fmt::format("--graph '{}' --key {} --length {} --expect '{}' --runs 3", graph(),
                       job.seed, job.length, visits());
  }
  [[nodiscard]] std::string graph() const { return folder_ / "graph.el"; }

 private:
  static void make(const std::string& command) { static_cast<void>(json_lines_of(command)); }
  [[nodiscard]] std::string visits() const { return folder_ / "visits.csv"; }

  support::temporary_folder folder_;
};

void measure(harness& h, const walks_sweep& s, int ranks, const figure::record_function& record) {
  auto job = s.job;
  job.ranks = ranks;
  int scale = s.rank_scale;
  while ((1 << (scale - s.rank_scale)) < ranks) ++scale;
  const files input(job, scale);
  job.file = input.graph();
  job.which = tasks_job::program::walks_by_tasks;
  auto own_job = job;
  own_job.which = tasks_job::program::walks;
  tasks_run by_tasks, own;
  auto tasks = as_subject(job, by_tasks);
  auto cairn = as_subject(own_job, own);
  std::vector<subject*> turns{&tasks, &cairn};
  std::vector<subject> by_hand;
  if (const auto mpi = mpi_commands("walks", ranks); !mpi.empty()) {
    by_hand.push_back(
        process("walks by hand", {{"ranks", ranks}}, mpi.front() + " " + input.arguments(job)));
    turns.push_back(&by_hand.front());
  }
  const auto times = h.measure_alternating(turns);
  auto point = by_tasks.counts();
  point.update({{"ranks", ranks},
                {"degree", 2 * job.edge_factor},
                {"length", job.length},
                {"tasks", job.tasks},
                {"seconds", json_of(times[0].time)},
                {"cairn_seconds", json_of(times[1].time)}});
  if (!by_hand.empty()) point["mpi_seconds"] = json_of(times[2].time);
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
    arguments.number("--ranks-here", s.ranks, {1, 64}, "numbers of local ranks, powers of 2");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    record({{"task_lines", source_lines({"examples/models/walks_by_tasks.hpp",
                                         "examples/models/global_graph.hpp"})},
            {"mpi_lines",
             source_lines({"bench/baselines/walks_mpi.c", "bench/baselines/block_graph.h"})}});
    for (const int ranks : s.ranks) measure(h, s, ranks, record);
  };
  return run_figure(argc, argv, f);
}
