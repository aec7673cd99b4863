// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/generators.hpp>

#include <bench/figures/cluster.hpp>
#include <bench/figures/paths.hpp>

namespace cairn::bench {
namespace {

using graph_type = graph::dist_csr<std::uint32_t>;

graph::generator generator_of(const paths_job& job) {
  constexpr int edge_factor = 16;
  if (job.graph == "uniform") return {graph::uniform_graph{job.scale, edge_factor}, job.seed};
  if (job.graph == "grid") {
    const auto rows = std::uint64_t{1} << (job.scale / 2);
    return {graph::grid_graph{rows, (std::uint64_t{1} << job.scale) / rows}, job.seed};
  }
  return {graph::kronecker_graph{job.scale, edge_factor}, job.seed};
}

// An edge has the same weight on any number of ranks.
graph_type graph_of(world& w, const paths_job& job) {
  const auto from = generator_of(job);
  auto edges = graph::generate(w.pool(), from, {.rank = w.rank(), .ranks = w.size()});
  if (job.longest > 1) {
    edges.weights = graph::io::weight_kind::integer;
    for (auto& block : edges.blocks) {
      auto& weights = block.weights.emplace<std::vector<std::int32_t>>();
      std::visit(
          [&](const auto& list) {
            for (const auto& e : list) {
              const std::uint64_t a = std::min(e.source, e.target),
                                  b = std::max(e.source, e.target);
              auto draw = random64(job.seed).stream((a << job.scale) + b);
              const auto drawn = draw.below(static_cast<std::uint64_t>(job.longest));
              weights.push_back(static_cast<std::int32_t>(drawn) + 1);
            }
          },
          block.edges);
    }
  }
  return graph::build<std::uint32_t>(w, std::move(edges),
                                     graph::labels(graph::size_of(from).num_vertices),
                                     {.drop_self_loops = true, .drop_duplicates = true});
}

// The same on every rank.
template <class Distance>
void judge(world& w, const graph_type& g, std::uint32_t source,
           const algo::sssp_result<Distance>& found, paths_run& ran) {
  std::uint64_t arcs = 0;
  for (auto v = g.out().first(); v < g.out().last(); ++v) {
    const bool reached = found.distance.load(v) != algo::unreached<Distance>;
    arcs += reached ? g.out().degree(v) : 0;
  }
  ran.useful = std::min(w.sum(arcs), found.relaxations);
  ran.wasted = found.relaxations - ran.useful;
  ran.buckets = found.buckets;
  ran.fault = algo::verify_sssp(w, g, source, found.distance).value_or("");
}

paths_run run_rank(world& w, const paths_job& job, bool warms_up) {
  const auto g = graph_of(w, job);
  const auto source = random_source(w, g, job.seed);
  auto lengths = algo::measure_lengths(w, g);
  lengths.learned = nullptr;  // all repeats take the same way
  lengths.ends = nullptr;     // as in [DC15], each edge of a reached vertex is relaxed
  algo::sssp_options options;
  options.activity.sent_filter = job.sent_filter;
  options.activity.sort_received = job.sort_received;
  options.algorithm = job.by;
  if (job.delta > 0) options.delta = job.delta;
  constexpr auto overflow = static_cast<std::size_t>(obs::counter::overflow_buffers);
  std::vector<double> seconds;
  paths_run ran;
  if (warms_up) static_cast<void>(algo::sssp(w, g, source, options, lengths));
  for (int i = 0; i < job.repeats && ran.fault.empty(); ++i) {
    w.barrier();
    const auto before = w.counters().totals();
    const auto start = w.clock().now_ns();
    const auto found = algo::sssp(w, g, source, options, lengths);
    const auto ns = w.clock().now_ns() - start;
    const auto after = w.counters().totals();
    const auto sent = sent_between(before, after);
    seconds.push_back(1e-9 * static_cast<double>(w.max(ns)));
    ran.messages = w.sum(sent.messages);
    ran.buffers = w.sum(sent.buffers);
    ran.overflow = w.sum(after[overflow] - before[overflow]);
    std::visit([&](const auto& r) { judge(w, g, source, r, ran); }, found);
  }
  ran.seconds = summarise(seconds).median;
  return ran;
}

}  // namespace

nlohmann::json paths_job::settings() const {
  return {{"graph", graph},
          {"scale", scale},
          {"longest", longest},
          {"seed", seed},
          {"by", algo::enum_name(by)},
          {"delta", delta},
          {"filter", sent_filter},
          {"sorted", sort_received},
          {"coalesce_bytes", world.coalesce_bytes},
          {"coalesce_age_ns", world.coalesce_age_ns},
          {"ranks", ranks}};
}

nlohmann::json paths_run::counts() const {
  return {{"messages", messages}, {"buffers", buffers}, {"overflow", overflow},
          {"useful", useful},     {"wasted", wasted},   {"buckets", buckets}};
}

paths_run find_paths(const paths_job& job, const std::optional<cluster_costs>& costs) {
  paths_run ran;
  const auto body = [&](world& w) {
    auto mine = run_rank(w, job, !costs);
    if (w.rank() == 0) ran = std::move(mine);
  };
  if (costs) {
    run_predicted(job.ranks, job.world, *costs, body);
  } else {
    run_on_threads(job.ranks, job.world, body);
  }
  return ran;
}

subject as_subject(const paths_job& job, paths_run& last) {
  kernel<paths_job, paths_run> kern;
  kern.name = "shortest_paths";
  kern.settings = job.settings();
  kern.make_input = [job] { return job; };
  kern.run = [&last](const paths_job& j) { return last = find_paths(j); };
  kern.verify = [](const paths_job&, const paths_run& ran) { return ran.fault; };
  kern.seconds = [](const paths_run& ran) { return ran.seconds; };
  return subject(std::move(kern));
}

}  // namespace cairn::bench
