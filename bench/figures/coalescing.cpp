// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <bench/figures/cluster.hpp>
#include <bench/figures/coalescing.hpp>

namespace cairn::bench {
namespace {

constexpr std::size_t own_choice = 0;

nlohmann::json place_of(const paths_job& job, const char* where) {
  return {{"where", where}, {"graph", job.graph}, {"longest", job.longest}, {"ranks", job.ranks}};
}

// The sizes of buffers, and last the runtime's choice.
std::vector<paths_job> jobs_of(const coalescing_sweep& s, const paths_job& like) {
  std::vector<paths_job> jobs(s.buffers.size() + 1, like);
  for (std::size_t i = 0; i < s.buffers.size(); ++i) jobs[i].world.coalesce_bytes = s.buffers[i];
  jobs.back().world.coalesce_bytes = own_choice;
  return jobs;
}

// Returns the number of the fastest size.
std::size_t record_sizes(const std::vector<paths_job>& jobs, const std::vector<paths_run>& ran,
                         const std::vector<summary>& times, const nlohmann::json& place,
                         const figure::record_function& record) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto point = ran[i].counts();
    point.update(place);
    point["seconds"] = json_of(times[i]);
    if (const auto bytes = jobs[i].world.coalesce_bytes; bytes != own_choice) {
      point["bytes"] = bytes;
      if (times[i].median < times[best].median) best = i;
    }
    record(std::move(point));
  }
  return best;
}

void record_choice(nlohmann::json place, std::size_t best_bytes, const summary& ratio,
                   const figure::record_function& record) {
  place.update({{"best_bytes", best_bytes}, {"choice", json_of(ratio)}});
  record(std::move(place));
}

void measure_graph(harness& h, const coalescing_sweep& s, const paths_job& like,
                   const figure::record_function& record) {
  const auto jobs = jobs_of(s, like);
  std::vector<paths_run> last(jobs.size());
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (std::size_t i = 0; i < jobs.size(); ++i) subjects.push_back(as_subject(jobs[i], last[i]));
  for (auto& x : subjects) turns.push_back(&x);
  std::vector<summary> times;
  for (const auto& measured : h.measure_alternating(turns)) times.push_back(measured.time);
  const auto place = place_of(like, "local");
  const auto best = record_sizes(jobs, last, times, place, record);
  const auto both = h.compare(subjects[best], subjects.back());
  record_choice(place, jobs[best].world.coalesce_bytes, both.ratio, record);
}

void predict_graph(const coalescing_sweep& s, const paths_job& like, const cluster_costs& costs,
                   const figure::record_function& record) {
  const auto jobs = jobs_of(s, like);
  std::vector<paths_run> ran;
  std::vector<summary> times;
  for (const auto& job : jobs) {
    ran.push_back(find_paths(job, costs));
    if (!ran.back().fault.empty()) throw wrong_result(ran.back().fault);
    times.push_back({ran.back().seconds, 0, 1});
  }
  const auto place = place_of(like, "simulated");
  const auto best = record_sizes(jobs, ran, times, place, record);
  record_choice(place, jobs[best].world.coalesce_bytes,
                {times[best].median / times.back().median, 0, 1}, record);
}

}  // namespace

void coalescing_sweep::add_to(argument_list& arguments) {
  arguments.word("--graphs", graphs, {"kronecker", "uniform", "grid"}, "one or more");
  arguments.number("--scale", job.scale, {1, 24}, "log2 of the vertices");
  arguments.number("--seed", job.seed, {}, "of graph, weights and source");
  arguments.number("--local", local, {1, 64}, "numbers of ranks that are threads");
  arguments.number("--simulated", simulated, {1, 1 << 14}, "numbers of ranks");
  arguments.number("--simulated-scale", simulated_scale, {1, 24},
                   "log2 of the vertices on simulated ranks");
  arguments.number("--buffers", buffers, {1, 1 << 30}, "sizes in bytes");
  arguments.number("--repeats", job.repeats, {1, 1 << 10}, "searches of a run");
}

void measure_buffers(harness& h, const coalescing_sweep& s, const figure::record_function& record) {
  auto costs = costs_here();
  costs.network = net::loggp{};
  record({{"costs", nlohmann::json::parse(costs.text())}});
  for (const auto& graph : s.graphs) {
    for (const int longest : s.longest) {
      auto job = s.job;
      job.graph = graph;
      job.longest = longest;
      for (const int ranks : s.local) {
        job.ranks = ranks;
        measure_graph(h, s, job, record);
      }
      job.scale = s.simulated_scale;
      job.repeats = 1;
      for (const int ranks : s.simulated) {
        job.ranks = ranks;
        predict_graph(s, job, costs, record);
      }
    }
  }
}

}  // namespace cairn::bench
