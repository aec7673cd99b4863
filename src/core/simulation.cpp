// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/net/loggp.hpp>
#include <cairn/net/sim.hpp>
#include <cairn/task/fibers.hpp>

#include "core/simulation_limits.hpp"

namespace cairn {
namespace {

/// Keeps the first failure, and informs the other ranks of a failure.
class failures {
 public:
  void run(world& w, const std::function<void(world&)>& body) {
    try {
      body(w);
    } catch (const cancelled&) {  // on all ranks
      keep(std::current_exception());
    } catch (const peer_failure&) {
      if (!peer_failure_) peer_failure_ = std::current_exception();
    } catch (...) {
      keep(std::current_exception());
      w.poison(text_of_exception());
    }
  }

  void keep(std::exception_ptr e) {
    if (!first_) first_ = std::move(e);
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
    if (peer_failure_) std::rethrow_exception(peer_failure_);
  }

 private:
  std::exception_ptr first_, peer_failure_;
};

/// The ranks of a running cluster.
class cluster_run {
 public:
  explicit cluster_run(rank_t ranks) : worlds_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] world* world_of(std::size_t rank) const noexcept { return worlds_[rank]; }
  /// The running worker of that rank.
  [[nodiscard]] worker_t worker_of(rank_t rank) const {
    return parts_[rank].workers->current_worker();
  }
  [[nodiscard]] std::uint64_t ended_ns() const noexcept { return ended_ns_; }

  void stalled(const std::string& text) {
    failed_.keep(std::make_exception_ptr(system_failure(text)));
    for (auto* const w : worlds_) {
      if (w != nullptr) w->poison(text);
    }
  }

  /// Runs body on every rank to its end. All ranks are connected before the first one sends.
  void run(task::fiber_scheduler& scheduler, hw::clock& clock, net::simulated_network& network,
           const simulation_options& cluster, const world_options& options,
           const std::function<void(world&)>& body) {
    try {
      const auto size = static_cast<rank_t>(worlds_.size());
      for (rank_t r = 0; r < size; ++r) {
        parts_.push_back({std::make_unique<net::simulated_transport>(network, r),
                          scheduler.make_pool(cluster.workers)});
      }
      for (rank_t r = 0; r < size; ++r) {
        scheduler.start(*parts_[r].workers, [&, r] {
          {
            world w(*parts_[r].net, *parts_[r].workers, clock, options);
            worlds_[r] = &w;
            failed_.run(w, body);
          }
          worlds_[r] = nullptr;
          parts_[r].net.reset();
          ended_ns_ = std::max(ended_ns_, clock.now_ns());
        });
      }
      scheduler.run();
    } catch (...) {
      failed_.keep(std::current_exception());
    }
    parts_.clear();  // pools must not outlive their scheduler
    failed_.rethrow();
  }

 private:
  struct rank_parts {
    std::unique_ptr<net::transport> net;
    std::unique_ptr<task::pool> workers;
  };

  failures failed_;
  std::vector<world*> worlds_;
  std::vector<rank_parts> parts_;
  std::uint64_t ended_ns_ = 0;
};

/// Advances the clock by the work that a worker's counters report.
class work_meter {
 public:
  work_meter(const cluster_costs& costs, hw::virtual_clock& clock, rank_t ranks, int threads)
      : costs_(costs),
        clock_(clock),
        charged_ns_(static_cast<std::size_t>(ranks),
                    std::vector<std::uint64_t>(static_cast<std::size_t>(threads))) {}

  void charge(world* w, std::size_t rank, worker_t worker) {
    if (w == nullptr) return;
    using obs::counter;
    const auto count = [&](counter c) {
      return static_cast<double>(w->counters().of_worker(worker, c));
    };
    const auto messages = count(counter::messages_sent) + count(counter::messages_filtered) +
                          count(counter::messages_merged) + count(counter::messages_handled) +
                          2 * count(counter::messages_forwarded);  // received and sent
    const auto work = messages * costs_.message_ns + count(counter::edges) * costs_.edge_ns +
                      count(counter::lookups) * costs_.owner_ns +
                      count(counter::activities) * costs_.commit_ns;
    auto& charged = charged_ns_[rank][static_cast<std::size_t>(worker)];
    const auto all = static_cast<std::uint64_t>(std::llround(work));
    clock_.advance(all - std::exchange(charged, all));
  }

 private:
  cluster_costs costs_;
  hw::virtual_clock& clock_;
  std::vector<std::vector<std::uint64_t>> charged_ns_;
};

simulation_report explore(const simulation_options& cluster, const world_options& options,
                          const std::function<void(world&)>& body) {
  random64 random(cluster.seed);
  hw::virtual_clock clock;
  net::sim_network network(
      cluster.ranks, random, clock,
      {.latency_ns = static_cast<std::uint64_t>(std::llround(cluster.latency_us * 1000)),
       .max_packet = cluster.max_packet});
  cluster_run ranks(cluster.ranks);
  task::fiber_scheduler scheduler(
      random, clock,
      {.next_due_ns = [&] { return network.next_due_ns(); },
       .on_stall = [&](const std::string& text) { ranks.stalled(text); }});
  ranks.run(scheduler, clock, network, cluster, options, body);
  return {.fingerprint = scheduler.fingerprint(),
          .turns = scheduler.turns(),
          .simulated_ns = clock.now_ns(),
          .packets = network.traffic().packets,
          .bytes = network.traffic().bytes};
}

simulation_report predict(const simulation_options& cluster, const world_options& options,
                          const std::function<void(world&)>& body) {
  random64 random(cluster.seed);
  hw::virtual_clock clock;
  cluster_run ranks(cluster.ranks);
  work_meter meter(*cluster.costs, clock, cluster.ranks,
                   cluster.workers + threads_beside_workers(options, cluster.ranks));
  const auto charge = [&](std::size_t rank, worker_t worker) {
    meter.charge(ranks.world_of(rank), rank, worker);
  };
  task::fiber_scheduler* waiting = nullptr;
  net::loggp_network network(
      cluster.ranks, clock, cluster.costs->network,
      {.max_packet = cluster.max_packet,
       .before_send = [&](rank_t r) { charge(static_cast<std::size_t>(r), ranks.worker_of(r)); },
       .expect = [&](rank_t r,
                     std::uint64_t at) { waiting->expect(static_cast<std::size_t>(r), at); }});
  task::fiber_options fibers;
  fibers.on_stall = [&](const std::string& text) { ranks.stalled(text); };
  fibers.times = {.charge = charge, .next_due_ns = [&](std::size_t rank, std::uint64_t after_ns) {
                    return network.next_due_ns(static_cast<rank_t>(rank), after_ns);
                  }};
  // Then waits for a message take thousands of turns, not millions.
  auto& nap_ns = fibers.times->max_nap_ns;
  nap_ns = std::max(nap_ns, static_cast<std::uint64_t>(cluster.costs->network.latency_ns / 1000));
  task::fiber_scheduler scheduler(random, clock, std::move(fibers));
  waiting = &scheduler;
  ranks.run(scheduler, clock, network, cluster, options, body);
  return {.fingerprint = scheduler.fingerprint(),
          .turns = scheduler.turns(),
          .simulated_ns = ranks.ended_ns(),
          .packets = network.traffic().packets,
          .bytes = network.traffic().bytes};
}

}  // namespace

simulation_report run_simulated(const simulation_options& cluster, const world_options& config,
                                const std::function<void(world&)>& body) {
  CAIRN_EXPECTS(cluster.ranks >= 1 && cluster.workers >= 1 && cluster.machines >= 0);
  CAIRN_EXPECTS(cluster.latency_us >= 0 && cluster.latency_us <= max_latency_us);
  CAIRN_EXPECTS(cluster.max_packet >= smallest_packet);
  auto options = config;
  options.machines = machine_layout::dealt(
      cluster.ranks, cluster.machines == 0 ? cluster.ranks : cluster.machines);
  options.machines.heap = std::make_shared<shared_heap>();
  return cluster.costs ? predict(cluster, options, body) : explore(cluster, options, body);
}

}  // namespace cairn
