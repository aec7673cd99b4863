// SPDX-License-Identifier: Apache-2.0
//
// Strong scaling of shortest paths and breadth-first search by Distributed Control, delta-stepping
// and chaotic relaxation, as over nodes in [DC15] figures 1 to 4: the wall time on local ranks, and
// the predicted time and the messages on simulated clusters with the speed of these cores and a
// network of default costs.

#include <string>
#include <utility>
#include <vector>

#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <bench/figures/paths.hpp>

namespace cairn::bench {
namespace {

struct paths_scaling {
  paths_job job;
  std::vector<std::string> graphs{"kronecker", "grid"};
  std::vector<std::size_t> buffers{0, 64};  // sizes in bytes; 0: the runtime's choice
  std::vector<int> local{1, 2, 4, 8};
  std::vector<int> simulated{2, 4, 8, 16, 32, 64, 256};
  std::vector<int> longest{255, 1};     // weights are random in 1..longest; 1: a search
  std::vector<int> compared{2, 8, 64};  // numbers of simulated ranks for the other algorithms
};

nlohmann::json point_of(const paths_job& job, const paths_run& ran, const char* where,
                        const summary& time) {
  auto point = ran.counts();
  point.update({{"where", where},
                {"graph", job.graph},
                {"longest", job.longest},
                {"bytes", job.world.coalesce_bytes},
                {"by", algo::enum_name(job.by)},
                {"ranks", job.ranks},
                {"seconds", json_of(time)}});
  return point;
}

void measure_here(harness& h, const paths_scaling& s, const paths_job& like,
                  const figure::record_function& record) {
  std::vector<paths_run> last(s.local.size());
  std::vector<paths_job> jobs;
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (std::size_t i = 0; i < s.local.size(); ++i) {
    jobs.push_back(like);
    jobs[i].ranks = s.local[i];
    subjects.push_back(as_subject(jobs[i], last[i]));
  }
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    record(point_of(jobs[i], last[i], "local", measured[i].time));
  }
}

void predict(const paths_scaling& s, paths_job job, const cluster_costs& costs,
             const figure::record_function& record) {
  using algo::sssp_method;
  constexpr auto control = sssp_method::distributed_control;
  for (const auto by : {control, sssp_method::delta, sssp_method::chaotic}) {
    for (const int ranks : by == control ? s.simulated : s.compared) {
      job.ranks = ranks;
      job.repeats = 1;
      job.by = by;
      const auto ran = find_paths(job, costs);
      if (!ran.fault.empty()) throw wrong_result(ran.fault);
      record(point_of(job, ran, "simulated", {ran.seconds, 0, 1}));
    }
  }
}

void sweep(harness& h, const paths_scaling& s, const figure::record_function& record) {
  auto costs = costs_here();
  costs.network = net::loggp{};
  record({{"costs", nlohmann::json::parse(costs.text())}});
  for (const auto& graph : s.graphs) {
    for (const int longest : s.longest) {
      for (const auto bytes : s.buffers) {
        auto job = s.job;
        job.graph = graph;
        job.longest = longest;
        job.world.coalesce_bytes = bytes;
        measure_here(h, s, job, record);
        predict(s, job, costs, record);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  paths_scaling s;
  figure f;
  f.name = "dc15_scaling";
  f.description = "Strong scaling of shortest paths over local and simulated ranks.";
  f.add_options = [&](argument_list& arguments) {
    arguments.word("--graphs", s.graphs, {"kronecker", "uniform", "grid"}, "one or more");
    arguments.number("--scale", s.job.scale, {1, 24}, "log2 of the vertices");
    arguments.number("--seed", s.job.seed, {}, "of graph, weights and source");
    arguments.number("--buffers", s.buffers, {}, "sizes in bytes, one or more; 0: chosen");
    arguments.number("--local", s.local, {1, 64}, "numbers of ranks that are threads");
    arguments.number("--simulated", s.simulated, {1, 1 << 14}, "numbers of ranks");
    arguments.number("--longest", s.longest, {1, 1 << 20},
                     "of the random weights, one or more; 1: breadth-first search");
    arguments.number("--compared", s.compared, {1, 1 << 14},
                     "numbers of simulated ranks for delta-stepping and chaotic relaxation");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
