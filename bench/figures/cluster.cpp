// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/task/pool.hpp>

#include <bench/figures/cluster.hpp>
#include <bench/harness.hpp>
#include <cli/cluster_probe.hpp>

namespace cairn::bench {
namespace {

using graph_type = graph::dist_csr<std::uint32_t>;
using rank_body = std::function<void(world&)>;

// As with rings, so that a buffer is a packet in both.
constexpr std::size_t max_packet = 64u << 10;

/// One rank's part of a job.
class rank_job {
 public:
  rank_job(world& w, const cluster_job& job)
      : w_(w),
        job_(job),
        loaded_(graph::load(w, graph::generator{graph::kronecker_graph{job.scale}, job.seed})),
        g_(std::get<graph_type>(loaded_.graph)) {
    if (!job.pagerank) source_ = random_source(w, g_, job.seed);
  }

  cluster_run run() {
    std::vector<double> seconds;
    cluster_run ran;
    for (int i = 0; i < job_.repeats; ++i) {
      w_.barrier();
      const auto before = w_.counters().totals();
      const auto sent_before = w_.messages().traffic();
      const auto start = w_.clock().now_ns();
      auto [messages, verify] = job_.pagerank ? rank_pages() : search();
      const auto ns = w_.clock().now_ns() - start;
      const auto after = w_.counters().totals();
      const auto sent = w_.messages().traffic();
      const auto counts = sent_between(before, after);
      seconds.push_back(1e-9 * static_cast<double>(w_.max(ns)));
      ran.buffers = w_.sum(counts.buffers);
      if (job_.pagerank) messages = {counts.messages};
      ran.messages.clear();
      for (const auto m : messages) ran.messages.push_back(w_.sum(m));
      ran.bytes = bytes_between(sent_before, sent);
      ran.fault = verify();
    }
    ran.seconds = summarise(seconds).median;
    return ran;
  }

 private:
  // The rows of all ranks.
  std::vector<std::vector<std::uint64_t>> bytes_between(
      const std::vector<obs::sent_amount>& before, const std::vector<obs::sent_amount>& after) {
    std::vector<std::uint64_t> row;
    for (std::size_t to = 0; to < after.size(); ++to) {
      row.push_back(after[to].bytes - before[to].bytes);
    }
    const auto all = w_.all_gather_values<std::uint64_t>(row);
    std::vector<std::vector<std::uint64_t>> rows;
    for (auto at = all.begin(); at != all.end(); at += static_cast<std::ptrdiff_t>(row.size())) {
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(row.size()));
    }
    return rows;
  }

  struct result {
    std::vector<std::uint64_t> messages;
    std::function<std::string()> verify;
  };

  result search() {
    auto found = std::make_shared<algo::bfs_result<std::uint32_t>>(
        algo::bfs(w_, g_, source_,
                  {.activity = {.sent_filter = job_.sent_filter},
                   .direction = traverse::direction::push,
                   .trace = true}));
    result r;
    for (const auto& level : found->trace) r.messages.push_back(level.messages);
    r.verify = [this, found] {
      return algo::verify_bfs(w_, g_, source_, found->parent).value_or("");
    };
    return r;
  }

  result rank_pages() {
    algo::pagerank_options options;
    options.variant = algo::pagerank_variant::push;
    options.aggregate->reduce = job_.reduce;
    options.convention = algo::pagerank_convention::graphalytics;
    options.iterations = static_cast<std::uint64_t>(job_.sweeps);
    auto found =
        std::make_shared<algo::pagerank_result<float>>(algo::pagerank<float>(w_, g_, options));
    return {{}, [this, found, options] {
              return algo::verify_pagerank(w_, g_, *found, options).value_or("");
            }};
  }

  world& w_;
  const cluster_job& job_;
  graph::loaded_graph loaded_;
  const graph_type& g_;
  std::uint32_t source_ = 0;
};

rank_body body_of(const cluster_job& job, cluster_run& ran) {
  return [&](world& w) {
    const auto mine = rank_job(w, job).run();
    if (w.rank() == 0) ran = mine;
  };
}

}  // namespace

std::uint32_t random_source(world& w, const graph_type& g, std::uint64_t seed) {
  for (random64 draw(seed);;) {
    const auto v = static_cast<std::uint32_t>(draw.below(g.num_vertices()));
    if (w.any(g.out().first() <= v && v < g.out().last() && g.out().degree(v) != 0)) return v;
  }
}

void run_on_threads(rank_t ranks, const world_options& options, const rank_body& body) {
  const auto fabric = std::make_shared<const net::ring_fabric>(ranks);
  std::mutex guard;
  std::exception_ptr failed;
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      net::ring_transport net(fabric, r);
      // On one core two ranks would run in turns, and be late by a time slice of the kernel.
      const auto pool = task::make_threads(
          {.workers = 1,
           .pin = ranks <= hw::allowed_cores() ? task::pinning::on : task::pinning::automatic,
           .first_core = r});
      hw::steady_clock clock;
      world w(net, *pool, clock, options);
      try {
        body(w);
      } catch (const std::exception& e) {
        const std::lock_guard held(guard);
        if (!failed) failed = std::current_exception();
        w.poison(e.what());
      }
    });
  }
  for (auto& t : threads) t.join();
  if (failed) std::rethrow_exception(failed);
}

void run_predicted(rank_t ranks, const world_options& options, const cluster_costs& costs,
                   const rank_body& body) {
  run_simulated({.ranks = ranks, .seed = 1, .max_packet = max_packet, .costs = costs}, options,
                body);
}

sent_counts sent_between(const counter_totals& before, const counter_totals& after) {
  const auto grown = [&](obs::counter c) {
    return after[static_cast<std::size_t>(c)] - before[static_cast<std::size_t>(c)];
  };
  return {grown(obs::counter::messages_sent),
          grown(obs::counter::buffers_sent) - grown(obs::counter::protocol_buffers)};
}

cluster_run run_here(const cluster_job& job, rank_t ranks) {
  cluster_run ran;
  run_on_threads(ranks, {.coalesce_bytes = job.coalesce_bytes}, body_of(job, ran));
  return ran;
}

cluster_run predict(const cluster_job& job, rank_t ranks, const cluster_costs& costs) {
  cluster_run ran;
  run_predicted(ranks, {.coalesce_bytes = job.coalesce_bytes, .routing = job.routing}, costs,
                body_of(job, ran));
  return ran;
}

cluster_costs costs_here() {
  constexpr int probes = 15;
  std::vector<cluster_costs> all;
  for (int i = 0; i < probes; ++i) {
    cluster_costs alone;
    run_on_threads(1, {}, [&](world& w) { alone = cli::probe_rank(w); });
    run_on_threads(2, {}, [&](world& w) {
      const auto found = cli::probe_cluster(w, alone);
      if (w.rank() == 0) all.push_back(found);
    });
  }
  return cluster_costs::median(all);
}

}  // namespace cairn::bench
