// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/net/sim.hpp>
#include <cairn/task/fibers.hpp>

namespace cairn {
namespace {

constexpr rank_t most_ranks = 1 << 20;
constexpr std::size_t least_packet = 256, most_packet = std::size_t{1} << 30;
constexpr double most_latency_us = 1e9;

template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

[[noreturn]] void refuse(std::string_view name, std::string_view value, const std::string& wanted) {
  throw usage_error("--sim: " + std::string(name) + " must be " + wanted + ", not '" +
                    std::string(value) + "'");
}

void read_ranks(std::string_view value, simulation_plan& plan) {
  auto& ranks = plan.cluster.ranks;
  if (!parse_number(value, ranks) || ranks < 1 || ranks > most_ranks) {
    refuse("ranks", value, "a number from 1 to " + std::to_string(most_ranks));
  }
}

void read_latency(std::string_view value, simulation_plan& plan) {
  auto& latency = plan.cluster.latency_us;
  if (!parse_number(value, latency) || !(latency >= 0 && latency <= most_latency_us)) {
    refuse("latency_us", value, "a number of microseconds from 0 to 1e9");
  }
}

void read_seeds(std::string_view value, simulation_plan& plan) {
  const auto dots = value.find("..");
  const bool range = dots != std::string_view::npos;
  auto& [cluster, first, last] = plan;
  const bool good = parse_number(value.substr(0, dots), first) &&
                    (!range || parse_number(value.substr(dots + 2), last));
  if (!range) last = first;
  if (!good || first > last) refuse("seed", value, "a number or a range such as 1..100");
  cluster.seed = first;
}

void read_packet(std::string_view value, simulation_plan& plan) {
  auto& bytes = plan.cluster.max_packet;
  if (!parse_number(value, bytes) || bytes < least_packet || bytes > most_packet) {
    refuse("max_packet", value,
           "a number of bytes from " + std::to_string(least_packet) + " to " +
               std::to_string(most_packet));
  }
}

/// The first failure, and how a rank that fails tells the others.
class failures {
 public:
  void run(world& w, const std::function<void(world&)>& body) {
    std::string text;
    try {
      body(w);
      return;
    } catch (const peer_failure&) {
      if (!heard_) heard_ = std::current_exception();
      return;
    } catch (const std::exception& e) {
      keep(std::current_exception());
      text = e.what();
    } catch (...) {
      keep(std::current_exception());
      text = "an exception of unknown type";
    }
    w.poison(text);
  }

  void keep(std::exception_ptr e) {
    if (!first_) first_ = std::move(e);
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
    if (heard_) std::rethrow_exception(heard_);
  }

 private:
  std::exception_ptr first_, heard_;
};

}  // namespace

simulation_plan parse_simulation(std::string_view text) {
  struct key {
    std::string_view name;
    void (*read)(std::string_view value, simulation_plan& plan);
    bool seen = false;
  };
  key keys[] = {{"ranks", read_ranks},
                {"latency_us", read_latency},
                {"seed", read_seeds},
                {"max_packet", read_packet}};
  simulation_plan plan;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    more = comma != std::string_view::npos;
    const auto item = text.substr(0, comma);
    text.remove_prefix(more ? comma + 1 : text.size());
    const auto equals = item.find('=');
    const auto name = item.substr(0, equals);
    key* known = nullptr;
    for (auto& k : keys) {
      if (k.name == name) known = &k;
    }
    if (known == nullptr || equals == std::string_view::npos) {
      throw usage_error("--sim takes ranks=N,latency_us=X,seed=N or N..N,max_packet=BYTES, not '" +
                        std::string(item) + "'");
    }
    if (std::exchange(known->seen, true)) {
      throw usage_error("--sim names " + std::string(name) + " twice");
    }
    known->read(item.substr(equals + 1), plan);
  }
  return plan;
}

simulation_report run_simulated(const simulation_options& cluster, const world_options& options,
                                const std::function<void(world&)>& body) {
  CAIRN_EXPECTS(cluster.ranks >= 1 && cluster.workers >= 1);
  CAIRN_EXPECTS(cluster.latency_us >= 0 && cluster.latency_us <= most_latency_us);
  CAIRN_EXPECTS(cluster.max_packet >= least_packet);
  random64 random(cluster.seed);
  hw::virtual_clock clock;
  net::sim_network network(
      cluster.ranks, random, clock,
      {.latency_ns = static_cast<std::uint64_t>(std::llround(cluster.latency_us * 1000)),
       .max_packet = cluster.max_packet});
  failures failed;
  std::vector<world*> worlds(static_cast<std::size_t>(cluster.ranks));
  task::fiber_scheduler scheduler(random, clock,
                                  {.next_due_ns = [&] { return network.next_due_ns(); },
                                   .on_stall =
                                       [&](const std::string& text) {
                                         failed.keep(std::make_exception_ptr(system_failure(text)));
                                         for (auto* const w : worlds) {
                                           if (w != nullptr) w->poison(text);
                                         }
                                       }});

  // All ends of the network are there before the first rank sends.
  struct rank_parts {
    std::unique_ptr<net::sim_transport> net;
    std::unique_ptr<task::pool> workers;
  };
  std::vector<rank_parts> ranks;
  for (rank_t r = 0; r < cluster.ranks; ++r) {
    ranks.push_back(
        {std::make_unique<net::sim_transport>(network, r), scheduler.make_pool(cluster.workers)});
  }
  for (rank_t r = 0; r < cluster.ranks; ++r) {
    scheduler.start(*ranks[r].workers, [&, r] {
      {
        world w(*ranks[r].net, *ranks[r].workers, clock, options);
        worlds[r] = &w;
        failed.run(w, body);
      }
      worlds[r] = nullptr;
      ranks[r].net.reset();
    });
  }
  try {
    scheduler.run();
  } catch (...) {
    failed.keep(std::current_exception());
  }
  failed.rethrow();
  return {.fingerprint = scheduler.fingerprint(),
          .turns = scheduler.turns(),
          .simulated_ns = clock.now_ns(),
          .packets = network.traffic().packets,
          .bytes = network.traffic().bytes};
}

}  // namespace cairn
