// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] on one machine: random walks by 1, 2, ..., 256 tasks on one worker, over a graph that is
// far larger than the caches; beside the plain loop of one walk at a time, and the loop that
// interleaves as many walks by hand. A remote access is a cache miss here. Also one task and the
// plain loop over a graph that the core's own cache holds: by walks so long that the loop, too, has
// nothing to do but to wait for the next vertex, where a task shows what its accesses cost; and by
// short walks, of which the loop begins the next one while it waits.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>

#include <bench/baselines/walks.hpp>
#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

using baselines::row;
using pgas::global_view;

struct latency_sweep {
  int vertex_bits = 22;
  std::uint64_t steps = std::uint64_t{1} << 20;  // in a pass, of all walks
  std::uint64_t length = 40;
  std::vector<int> tasks{1, 2, 4, 8, 16, 32, 64, 128, 256};
  std::vector<int> interleaved{8, 16, 32, 64, 128};  // walks of the loop by hand
  std::string graph;                                 // a file; empty: random edges
  int cached_vertex_bits = 13;
  std::vector<std::uint64_t> cached_lengths{40, 8192};
};

task::task<> walk_some(global_view<row> rows, global_view<std::uint32_t> targets,
                       std::uint64_t length, std::uint64_t* sum, std::uint64_t first,
                       std::uint64_t last) {
  std::uint64_t mine = 0;
  for (auto k = first; k < last; ++k) {
    auto v = baselines::walk_start(k, rows.size());
    for (std::uint64_t s = 0; s < length; ++s) {
      const auto r = co_await rows.get(v);
      v = co_await targets.get(r.first + baselines::walk_choice(k, s, r.degree));
    }
    mine += mix64(v);
  }
  *sum += mine;
}

struct adjacency {
  std::vector<row> rows;
  std::vector<std::uint32_t> targets;
};

adjacency random_edges(int vertex_bits) {
  adjacency all;
  all.rows.resize(std::size_t{1} << vertex_bits);
  std::uint64_t edges = 0;
  for (auto& r : all.rows) {
    r = {edges, 8 + mix64(edges) % 17};
    edges += r.degree;
  }
  all.targets.resize(edges);
  for (std::uint64_t e = 0; e < edges; ++e) {
    all.targets[e] = static_cast<std::uint32_t>(mix64(e) >> (64 - vertex_bits));
  }
  return all;
}

/// A file's graph, undirected, without its vertices that have no edges.
adjacency edges_of_file(world& w, const std::string& file) {
  const auto loaded = graph::load(w, file, {.build = {.symmetrize = true}});
  const auto& out = std::get<graph::dist_csr<std::uint32_t>>(loaded.graph).out();
  std::vector<std::uint32_t> position(out.num_rows());
  adjacency all;
  for (std::uint32_t v = 0; v < out.num_rows(); ++v) {
    position[v] = static_cast<std::uint32_t>(all.rows.size());
    if (out.degree(v) != 0) all.rows.push_back({out.offsets()[v], out.degree(v)});
  }
  for (const auto v : out.targets()) all.targets.push_back(position[v]);
  if (all.rows.empty()) throw std::runtime_error("the graph has no edges");
  return all;
}

/// A graph in two global arrays of one rank.
class walk_stage {
 public:
  explicit walk_stage(const latency_sweep& s)
      : sweep_(s),
        walks_(std::max<std::uint64_t>(s.steps / s.length, 1)),
        graph_(s.graph.empty() ? random_edges(s.vertex_bits) : edges_of_file(world_, s.graph)),
        n_(graph_.rows.size()),
        memory_(world_),
        rows_(memory_.collective_alloc<row>(n_)),
        targets_(memory_.collective_alloc<std::uint32_t>(graph_.targets.size())) {
    std::ranges::copy(graph_.rows, memory_.view(rows_).local().begin());
    std::ranges::copy(graph_.targets, memory_.view(targets_).local().begin());
    graph_ = {};
    expected_ = by_loop();
  }

  [[nodiscard]] std::uint64_t by_loop() {
    return baselines::walk_alone(rows(), targets(), n_, walks_, sweep_.length);
  }
  [[nodiscard]] std::uint64_t by_hand(int interleaved) {
    return baselines::walk_interleaved(rows(), targets(), n_, walks_, sweep_.length,
                                       static_cast<std::size_t>(interleaved));
  }
  [[nodiscard]] std::uint64_t by_tasks(std::uint64_t tasks) {
    std::uint64_t sum = 0;
    world_.run(all_walks(tasks, &sum));
    return sum;
  }
  /// at_once  tasks, or walks that the loop by hand interleaves
  [[nodiscard]] subject as_subject(const std::string& method, int at_once) {
    kernel<walk_stage*, std::uint64_t> kern;
    kern.name = "walks";
    kern.settings = {{"method", method},      {"tasks", at_once},        {"vertices", n_},
                     {"graph", sweep_.graph}, {"length", sweep_.length}, {"walks", walks_}};
    kern.item = "steps";
    kern.num_items = num_steps();
    kern.make_input = [this] { return this; };
    kern.run = [method, at_once](walk_stage* on) {
      if (method == "loop") return on->by_loop();
      return method == "by hand" ? on->by_hand(at_once)
                                 : on->by_tasks(static_cast<std::uint64_t>(at_once));
    };
    kern.verify = [](walk_stage* on, std::uint64_t sum) -> std::string {
      return sum == on->expected_ ? "" : "the walks ended elsewhere";
    };
    return subject(std::move(kern));
  }
  [[nodiscard]] std::uint64_t table_bytes() {
    return memory_.view(rows_).local().size_bytes() + memory_.view(targets_).local().size_bytes();
  }
  [[nodiscard]] double num_steps() const { return static_cast<double>(walks_ * sweep_.length); }

 private:
  task::task<> all_walks(std::uint64_t tasks, std::uint64_t* sum) {
    std::vector<task::task<>> all;
    const auto rows = memory_.view(rows_);
    const auto targets = memory_.view(targets_);
    for (std::uint64_t t = 0; t < tasks; ++t) {
      all.push_back(walk_some(rows, targets, sweep_.length, sum, walks_ * t / tasks,
                              walks_ * (t + 1) / tasks));
    }
    co_await task::when_all(std::move(all));
  }
  [[nodiscard]] const row* rows() { return memory_.view(rows_).local().data(); }
  [[nodiscard]] const std::uint32_t* targets() { return memory_.view(targets_).local().data(); }

  const latency_sweep& sweep_;
  world world_{1};
  std::uint64_t walks_, expected_ = 0;
  adjacency graph_;  // until it is in the arrays
  std::uint64_t n_;
  pgas::global_memory memory_;
  pgas::global_array<row> rows_;
  pgas::global_array<std::uint32_t> targets_;
};

nlohmann::json ns_per_step(const measurement& m, double steps) {
  std::vector<double> ns;
  for (const auto s : m.seconds) ns.push_back(1e9 * s / steps);
  return json_of(summarise(ns));
}

void sweep(harness& h, const latency_sweep& s, const figure::record_function& record) {
  walk_stage stage(s);
  std::vector<subject> subjects;
  subjects.push_back(stage.as_subject("loop", 0));
  for (const int n : s.interleaved) subjects.push_back(stage.as_subject("by hand", n));
  for (const int t : s.tasks) subjects.push_back(stage.as_subject("tasks", t));
  std::vector<subject*> all;
  for (auto& x : subjects) all.push_back(&x);
  const auto times = h.measure_alternating(all);
  const auto steps = stage.num_steps();
  const auto &loop = times[0], *best = &times[1];
  record({{"by", "loop"},
          {"ns_per_step", ns_per_step(loop, steps)},
          {"table_bytes", stage.table_bytes()}});
  auto next = times.begin() + 1;
  for (const int n : s.interleaved) {
    const auto& found = *next++;
    if (found.time.median < best->time.median) best = &found;
    record({{"by", "hand"},
            {"interleaved", n},
            {"ns_per_step", ns_per_step(found, steps)},
            {"by_loop", json_of(ratio_of(loop, found))}});
  }
  for (const int n : s.tasks) {
    const auto& found = *next++;
    record({{"by", "tasks"},
            {"tasks", n},
            {"ns_per_step", ns_per_step(found, steps)},
            {"by_loop", json_of(ratio_of(loop, found))},
            {"by_hand", json_of(ratio_of(*best, found))}});
  }
}

void measure_in_cache(harness& h, const latency_sweep& s, std::uint64_t length,
                      const figure::record_function& record) {
  latency_sweep small = s;
  small.graph.clear();
  small.vertex_bits = s.cached_vertex_bits;
  small.length = length;
  walk_stage stage(small);
  auto loop = stage.as_subject("loop", 0), task = stage.as_subject("tasks", 1);
  const auto both = h.compare(loop, task);
  record({{"by", "task in cache"},
          {"length", length},
          {"ns_per_step", ns_per_step(both.second, stage.num_steps())},
          {"by_loop", json_of(both.ratio)}});
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  latency_sweep s;
  figure f;
  f.name = "gmt14_latency";
  f.description = "[GMT14] on one machine: random walks by tasks that hide cache misses.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--vertex-bits", s.vertex_bits, {1, 30}, "log2 of the vertices");
    arguments.file("--graph", s.graph, "a file, instead of a random graph");
    arguments.number("--steps", s.steps, {1, std::uint64_t{1} << 40}, "of all walks in a pass");
    arguments.number("--length", s.length, {1, 1 << 20}, "of a walk");
    arguments.number("--tasks", s.tasks, {1, 1 << 20}, "one or more, ascending");
    arguments.number("--cached-vertex-bits", s.cached_vertex_bits, {1, 30},
                     "of the graph that a cache holds");
    arguments.number("--cached-length", s.cached_lengths, {1, 1 << 20},
                     "of a walk there, one or more");
    arguments.number("--interleaved", s.interleaved, {1, 1 << 20},
                     "walks of the loop by hand, one or more");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    sweep(h, s, record);
    for (const auto length : s.cached_lengths) measure_in_cache(h, s, length, record);
  };
  return run_figure(argc, argv, f);
}
