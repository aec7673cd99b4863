// SPDX-License-Identifier: Apache-2.0
#include <examples/models/bfs_by_tasks.hpp>
#include <examples/models/walks_by_tasks.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/algo/walk.hpp>
#include <cairn/graph/load.hpp>

#include <bench/figures/cluster.hpp>
#include <bench/figures/tasks.hpp>

namespace cairn::bench {
namespace {

using vertex = by_tasks::vertex;
using graph_type = graph::dist_csr<vertex>;
using program = tasks_job::program;

graph::source source_of_graph(const tasks_job& job) {
  if (!job.file.empty()) return job.file;
  return graph::generator{graph::uniform_graph{job.scale, job.edge_factor}, job.seed};
}

task::task<std::uint64_t> nothing() { co_return 0; }
task::task<std::uint64_t> walk_all(world* w, by_tasks::walks x, std::size_t tasks) {
  co_await by_tasks::walk(w, x, tasks);
  co_return x.walkers;
}

/// One rank's part of a job.
class rank_job {
 public:
  rank_job(world& w, const tasks_job& job)
      : w_(w),
        job_(job),
        loaded_(graph::load(w, source_of_graph(job))),
        g_(std::get<graph_type>(loaded_.graph)),
        source_(random_source(w, g_, job.seed)),
        memory_(w),
        walk_{.walkers = g_.num_vertices() / 2, .length = job.length, .key = job.seed} {
    if (job.by_tasks()) copied_ = by_tasks::copy_of(memory_, g_);
  }

  tasks_run run() {
    std::vector<double> seconds;
    tasks_run ran;
    ran.vertices = g_.num_vertices();
    for (int i = 0; i < job_.repeats && ran.fault.empty(); ++i) once(ran, seconds);
    ran.seconds = summarise(seconds).median;
    return ran;
  }

 private:
  using values = std::vector<std::uint64_t>;

  // Compared by value at each vertex of this rank; both programs have the same blocks.
  struct other_result {
    values own;
    std::uint64_t edges;
    std::string fault;
  };

  void once(tasks_run& ran, std::vector<double>& seconds) {
    values own;
    if (!job_.by_tasks()) {
      other_result found;
      timed(ran, seconds, [&]() -> std::function<void()> {
        if (job_.searches()) {
          auto r = std::make_shared<algo::bfs_result<vertex>>(search());
          return [&, r] { found = judged(*r); };
        }
        auto r = std::make_shared<algo::walk_result<vertex>>(algo::walk(w_, g_, walk_));
        return [&, r] { found = judged(*r); };
      });
      ran.edges = found.edges;
      ran.fault = found.fault;
      return;
    }
    if (job_.searches()) {
      const auto s = by_tasks::search_of(memory_, copied_);
      timed(ran, seconds, [&]() -> std::function<void()> {
        w_.run(w_.rank() == 0 ? by_tasks::bfs(&w_, s, source_, job_.tasks) : nothing());
        w_.barrier();
        return [&, s] { own = taken(s.depths); };
      });
      memory_.collective_free(s.depths);
      memory_.collective_free(s.queue);
      memory_.collective_free(s.tail);
    } else {
      const auto visits = memory_.collective_alloc<std::uint64_t>(g_.num_vertices());
      const by_tasks::walks x{copied_, visits, walk_.walkers, walk_.length, walk_.key};
      timed(ran, seconds, [&]() -> std::function<void()> {
        w_.run(w_.rank() == 0 ? walk_all(&w_, x, job_.tasks) : nothing());
        w_.barrier();
        return [&, visits] { own = taken(visits); };
      });
      memory_.collective_free(visits);
    }
    const auto expected = job_.searches() ? judged(search()) : judged(algo::walk(w_, g_, walk_));
    ran.edges = expected.edges;
    ran.fault = w_.any(own != expected.own) ? "the result differs from Cairn's" : expected.fault;
  }

  // f returns what is to be done after the clock has stopped.
  void timed(tasks_run& ran, std::vector<double>& seconds,
             const std::function<std::function<void()>()>& f) {
    w_.barrier();
    const auto before = w_.counters().totals();
    const auto start = w_.clock().now_ns();
    const auto after_clock = f();
    const auto ns = w_.clock().now_ns() - start;
    const auto sent = sent_between(before, w_.counters().totals());
    seconds.push_back(1e-9 * static_cast<double>(w_.max(ns)));
    ran.messages = w_.sum(sent.messages);
    ran.buffers = w_.sum(sent.buffers);
    after_clock();
  }

  [[nodiscard]] algo::bfs_result<vertex> search() {
    return algo::bfs(w_, g_, source_, {.direction = traverse::direction::push, .depths = true});
  }
  // Depths as by_tasks has them: 1 for the source, 0 if not reached.
  [[nodiscard]] other_result judged(const algo::bfs_result<vertex>& r) {
    other_result found;
    std::uint64_t edges = 0;
    for (auto v = g_.out().first(); v < g_.out().last(); ++v) {
      const auto depth = r.depth->load(v);
      found.own.push_back(depth == no_vertex<vertex> ? 0 : std::uint64_t{depth} + 1);
      edges += depth == no_vertex<vertex> ? 0 : g_.out().degree(v);
    }
    found.edges = w_.sum(edges);
    found.fault = algo::verify_bfs(w_, g_, source_, r.parent).value_or("");
    return found;
  }
  [[nodiscard]] other_result judged(const algo::walk_result<vertex>& r) {
    const auto own = r.visits.local();
    return {values(own.begin(), own.end()), r.steps,
            algo::verify_walk(w_, g_, walk_, r.visits).value_or("")};
  }
  [[nodiscard]] values taken(const pgas::global_array<std::uint64_t>& array) {
    const auto own = memory_.view(array).local();
    return {own.begin(), own.end()};
  }

  world& w_;
  const tasks_job& job_;
  graph::loaded_graph loaded_;
  const graph_type& g_;
  const vertex source_;
  pgas::global_memory memory_;
  const algo::walk_options walk_;
  by_tasks::global_graph copied_;
};

}  // namespace

const char* tasks_job::name() const noexcept {
  constexpr const char* names[] = {"bfs by tasks", "bfs", "walks by tasks", "walks"};
  return names[static_cast<int>(which)];
}

nlohmann::json tasks_run::counts() const {
  return {{"vertices", vertices}, {"edges", edges}, {"messages", messages}, {"buffers", buffers}};
}

tasks_run run_job(const tasks_job& job, const std::optional<cluster_costs>& costs) {
  tasks_run ran;
  const auto body = [&](world& w) {
    auto mine = rank_job(w, job).run();
    if (w.rank() == 0) ran = std::move(mine);
  };
  const world_options options{.coalesce_bytes = job.coalesce_bytes};
  if (costs) {
    run_predicted(job.ranks, options, *costs, body);
  } else {
    run_on_threads(job.ranks, options, body);
  }
  return ran;
}

subject as_subject(const tasks_job& job, tasks_run& last) {
  kernel<tasks_job, tasks_run> kern;
  kern.name = job.name();
  kern.settings = {{"file", job.file},
                   {"scale", job.scale},
                   {"edge_factor", job.edge_factor},
                   {"seed", job.seed},
                   {"tasks", job.tasks},
                   {"length", job.length},
                   {"ranks", job.ranks},
                   {"coalesce_bytes", job.coalesce_bytes}};
  kern.make_input = [job] { return job; };
  kern.run = [&last](const tasks_job& j) { return last = run_job(j); };
  kern.verify = [](const tasks_job&, const tasks_run& ran) { return ran.fault; };
  kern.seconds = [](const tasks_run& ran) { return ran.seconds; };
  return subject(std::move(kern));
}

std::uint64_t source_of(const tasks_job& job) {
  std::uint64_t source = 0;
  run_on_threads(1, {}, [&](world& w) {
    const auto loaded = graph::load(w, source_of_graph(job));
    const auto& g = std::get<graph_type>(loaded.graph);
    source = g.labels().id_of(random_source(w, g, job.seed));
  });
  return source;
}

}  // namespace cairn::bench
