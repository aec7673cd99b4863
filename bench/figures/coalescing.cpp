// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <bench/figures/coalescing.hpp>

namespace cairn::bench {
namespace {

constexpr std::size_t own_choice = 0;

void measure_graph(harness& h, const coalescing_sweep& s, const paths_job& like,
                   const figure::record_function& record) {
  auto sizes = s.buffers;
  sizes.push_back(own_choice);
  std::vector<paths_run> last(sizes.size());
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto job = like;
    job.world.coalesce_bytes = sizes[i];
    subjects.push_back(as_subject(job, last[i]));
  }
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  std::size_t best = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto point = last[i].counts();
    point.update({{"graph", like.graph},
                  {"longest", like.longest},
                  {"ranks", like.ranks},
                  {"seconds", json_of(measured[i].time)}});
    if (sizes[i] != own_choice) {
      point["bytes"] = sizes[i];
      if (measured[i].time.median < measured[best].time.median) best = i;
    }
    record(std::move(point));
  }
  const auto both = h.compare(subjects[best], subjects.back());
  record({{"graph", like.graph},
          {"longest", like.longest},
          {"best_bytes", sizes[best]},
          {"choice", json_of(both.ratio)}});
}

}  // namespace

void coalescing_sweep::add_to(argument_list& arguments) {
  arguments.word("--graphs", graphs, {"kronecker", "uniform", "grid"}, "one or more");
  arguments.number("--scale", job.scale, {1, 24}, "log2 of the vertices");
  arguments.number("--seed", job.seed, {}, "of graph, weights and source");
  arguments.number("--local", job.ranks, {1, 64}, "ranks that are threads");
  arguments.number("--buffers", buffers, {1, 1 << 30}, "sizes in bytes");
  arguments.number("--repeats", job.repeats, {1, 1 << 10}, "searches of a run");
}

void measure_buffers(harness& h, const coalescing_sweep& s, const figure::record_function& record) {
  for (const auto& graph : s.graphs) {
    for (const int longest : s.longest) {
      auto job = s.job;
      job.graph = graph;
      job.longest = longest;
      measure_graph(h, s, job, record);
    }
  }
}

}  // namespace cairn::bench
