// SPDX-License-Identifier: Apache-2.0
//
// Scaling of breadth-first search and PageRank over ranks, predicted by the simulated cluster up to
// hundreds of ranks. The predictions are checked: messages and buffers against those of real ranks,
// and the ranking of settings against measured times.

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/cluster.hpp>
#include <bench/figures/figure.hpp>
#include <cli/cost_files.hpp>

namespace cairn::bench {
namespace {

using record_function = figure::record_function;

struct scaling_sweep {
  cluster_job job;
  std::vector<int> local{2, 4, 8};
  std::vector<int> simulated{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<std::size_t> buffers{16, 128, 1024, 4080, 32752};
  int pictured = 16;  // ranks whose traffic is drawn
  std::string costs;  // a file; empty: the costs are measured
};

subject as_subject(const cluster_job& job, int ranks, cluster_run& last) {
  kernel<cluster_job, cluster_run> kern;
  kern.name = std::string("scaling_") + job.name();
  kern.settings = {{"kronecker", job.scale}, {"seed", job.seed},
                   {"ranks", ranks},         {"sent_filter", job.sent_filter},
                   {"reduce", job.reduce},   {"coalesce_bytes", job.coalesce_bytes}};
  kern.make_input = [job] { return job; };
  kern.run = [ranks, &last](const cluster_job& j) { return last = run_here(j, ranks); };
  kern.verify = [](const cluster_job&, const cluster_run& ran) { return ran.fault; };
  kern.seconds = [](const cluster_run& ran) { return ran.seconds; };
  return subject(std::move(kern));
}

// Compares the counters of real and simulated ranks. With more ranks than cores, times are
// meaningless.
void count(harness& h, const scaling_sweep& s, const cluster_job& job, const cluster_costs& costs,
           const record_function& record) {
  for (const int ranks : s.local) {
    cluster_run real;
    auto runs = as_subject(job, ranks, real);
    h.measure(runs);
    const auto simulated = predict(job, ranks, costs);
    record({{"job", job.name()},
            {"real_ranks", ranks},
            {"messages", real.messages},
            {"simulated_messages", simulated.messages},
            {"buffers", real.buffers},
            {"simulated_buffers", simulated.buffers}});
  }
}

// Compares settings by alternating runs: buffer sizes, the filter, one rank or two.
void rank_settings(harness& h, const scaling_sweep& s, const cluster_job& job,
                   const cluster_costs& costs, const record_function& record) {
  struct setting {
    std::string name;
    cluster_job job;
    int ranks;
    cluster_run last = {};
  };
  std::vector<setting> settings{{"1 rank", job, 1}};
  for (const auto bytes : s.buffers) {
    settings.push_back({fmt::format("2 ranks, {} bytes", bytes), job, 2});
    settings.back().job.coalesce_bytes = bytes;
  }
  settings.push_back({job.pagerank ? "2 ranks, reduced" : "2 ranks, filter", job, 2});
  auto& fewer_messages = settings.back().job;
  (job.pagerank ? fewer_messages.reduce : fewer_messages.sent_filter) = true;
  std::vector<subject> subjects;
  for (auto& x : settings) {
    auto repeated = x.job;
    repeated.repeats = 7;
    subjects.push_back(as_subject(repeated, x.ranks, x.last));
  }
  std::vector<subject*> turns;
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& [name, variant, ranks, last] = settings[i];
    record({{"job", job.name()},
            {"setting", name},
            {"measured", json_of(measured[i].time)},
            {"predicted", predict(variant, ranks, costs).seconds}});
  }
}

void scale(const scaling_sweep& s, const cluster_job& job, const char* network,
           const cluster_costs& costs, const record_function& record) {
  for (const int ranks : s.simulated) {
    const auto ran = predict(job, ranks, costs);
    record({{"job", job.name()},
            {"network", network},
            {"ranks", ranks},
            {"seconds", {{"median", ran.seconds}, {"mad", 0}, {"runs", 1}}}});
  }
}

// The traffic between ranks, sent directly and through a grid.
void picture(const scaling_sweep& s, cluster_job job, const cluster_costs& costs,
             const record_function& record) {
  for (const bool grid : {false, true}) {
    job.routing = grid ? routing::grid : routing::direct;
    record({{"job", job.name()},
            {"routing", grid ? "grid" : "direct"},
            {"bytes_between", predict(job, s.pictured, costs).bytes}});
  }
}

void sweep(harness& h, const scaling_sweep& s, const record_function& record) {
  const auto costs = s.costs.empty() ? costs_here() : cli::read_cluster_costs(s.costs);
  record({{"costs", nlohmann::json::parse(costs.text())}});
  auto cluster = costs;  // these cores, with a network between machines
  cluster.network = net::loggp{};
  for (const bool pagerank : {false, true}) {
    auto job = s.job;
    job.pagerank = pagerank;
    count(h, s, job, costs, record);
    rank_settings(h, s, job, costs, record);
    scale(s, job, "rings", costs, record);
    scale(s, job, "cluster", cluster, record);
    picture(s, job, cluster, record);
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  scaling_sweep s;
  figure f;
  f.name = "scaling";
  f.description = "Scaling over ranks: predictions of the simulated cluster, and their accuracy.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--kronecker", s.job.scale, {1, 31}, "log2 of the vertices");
    arguments.number("--seed", s.job.seed, {}, "of graph and source");
    arguments.number("--local", s.local, {2, 64}, "numbers of ranks whose messages are compared");
    arguments.number("--simulated", s.simulated, {1, 1 << 14}, "numbers of ranks, ascending");
    arguments.number("--pictured", s.pictured, {2, 64}, "number of ranks whose traffic is drawn");
    arguments.number("--buffers", s.buffers, {}, "sizes in bytes");
    arguments.file("--costs", s.costs, "of packets and work, as cairn bench sim writes them");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
