// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/net/ring.hpp>

#include "core/interrupt.hpp"
#include "core/launcher.hpp"
#include "core/local_ranks.hpp"
#include "core/mpi_ranks.hpp"
#include "core/rank_result.hpp"
#include "core/rank_runtime.hpp"
#include "core/supervisor.hpp"
#include "core/time_limit.hpp"

namespace cairn {
namespace {

rank_result run_alone(const settings& config, const rank_body& body, const launch_report& say) {
  interrupt_handler interrupts(interrupt_handler::second::kills, 1);
  const timed_stop limit(interrupts, time_limit::from_now(config));
  net::ring_transport single_rank_net(std::make_shared<net::ring_fabric>(1), 0);
  return rank_runtime(single_rank_net, config, {}).run(body, interrupts, say);
}

// The memory through which local ranks send.
std::shared_ptr<net::segment> memory_between(rank_t ranks) {
  constexpr auto max = std::size_t{1} << 45;  // a quarter of the addresses of a process
  const auto bytes = net::ring_fabric::bytes_needed(ranks);
  if (bytes > max) {
    throw usage_error(std::to_string(ranks) + " local ranks (--ranks or CAIRN_RANKS) need " +
                      std::to_string(bytes) + " bytes between them, expected at most " +
                      std::to_string(max));
  }
  return net::segment::shared(bytes);
}

rank_result run_locally(const settings& config, const rank_body& body, const launch_report& say) {
  const auto memory = memory_between(config.ranks);
  memory->close_descriptor();
  const auto limit = time_limit::from_now(config);
  return run_local_ranks(
      config.ranks, limit, [&](rank_t rank, interrupt_handler& interrupts) -> rank_result {
        try {
          const timed_stop at_limit(interrupts, limit);
          net::ring_transport rings(std::make_shared<net::ring_fabric>(memory, config.ranks), rank);
          const rank_position here{.sharers = config.ranks,
                                   .position = rank,
                                   .machines = machine_layout::dealt(config.ranks, 1)};
          return rank_runtime(rings, config, here).run(body, interrupts, say);
        } catch (...) {
          return result_by_exception();
        }
      });
}

rank_result run_in_simulation(const settings& config, const rank_body& body) {
  if (config.ranks != 0) {
    throw usage_error("--sim sets the number of ranks: do not set --ranks or CAIRN_RANKS");
  }
  auto plan = parse_simulation(config.sim, config.sim_costs);
  plan.cluster.workers = std::max(config.threads, 1);
  interrupt_handler interrupts(interrupt_handler::second::kills, 1);
  const timed_stop limit(interrupts, time_limit::from_now(config));
  auto options = config.for_world();
  // Hardware transactions abort unpredictably, so no run could be replayed from its seed.
  const bool explores = !plan.cluster.costs;
  options.emulate_transactions =
      config.mechanism == "htm" || (explores && config.mechanism == "auto");
  for (auto seed = plan.first_seed;; ++seed) {
    plan.cluster.seed = seed;
    options.emulation_seed = seed;
    int status = 0;
    try {
      run_simulated(plan.cluster, options, [&](world& w) {
        // The first rank informs the others. If all began, each would inform each.
        std::optional<interrupt_handler::interruptible> by_signal;
        if (w.rank() == 0) by_signal.emplace(interrupts, w);
        const int of_rank = run_together(w, body, interrupts);
        if (status == 0) status = of_rank;
      });
    } catch (...) {
      auto failed = result_by_exception();
      if (plan.first_seed != plan.last_seed && failed.status == 1) {
        failed.sentence = "seed " + std::to_string(seed) + ": " + failed.sentence;
      }
      return failed;
    }
    if (status != 0 || seed == plan.last_seed) return {status, "", status != 0};
  }
}

rank_result run_in_this_process(const settings& config, const rank_body& body,
                                const launch_report& say) {
  if (!config.sim.empty()) return run_in_simulation(config, body);
  if (config.transport == transport_kind::mpi)
    throw usage_error("--transport mpi requires mpiexec");
  if (config.machines != 0) throw usage_error("--machines requires mpiexec");
  return config.ranks > 1 ? run_locally(config, body, say) : run_alone(config, body, say);
}

auto launcher_here() {
  return find_launcher([](const char* name) -> const char* { return std::getenv(name); });
}

using second_signal = interrupt_handler::second;

/// prepare   returns the rank_plan, or throws for bad settings
/// then      the effect of a second signal on a rank that a launcher started
template <class Prepare>
int run_planned(const Prepare& prepare, const launch_report& say,
                second_signal then = second_signal::kills) {
  const auto ended = [&]() -> rank_result {
    try {
      const auto started_by = launcher_here();
      if (started_by && started_by->size > 1) {
        return {run_mpi_ranks(*started_by, std::cref(prepare), say, then), "", true};
      }
      const auto plan = prepare();
      if (started_by && plan.config.sim.empty() && plan.config.transport == transport_kind::mpi) {
        return {run_mpi_ranks(*started_by, std::cref(prepare), say, then), "", true};
      }
      return run_in_this_process(plan.config, plan.body, say);
    } catch (...) {
      return result_by_exception();
    }
  }();
  if (!ended.sentence.empty()) say(ended.sentence);
  return ended.status;
}

std::vector<std::string> take_options(settings& config, int argc, char** argv) {
  const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  for (const auto& argument : given) {
    if (argument == "--costs" || argument.starts_with("--costs=")) {
      throw usage_error("--costs has no effect here: the command cairn reads the file");
    }
  }
  return config.take_options(given);
}

}  // namespace

int run(const settings& config, const rank_body& body, const launch_report& say) {
  const auto prepare = [&] { return rank_plan{config, body}; };
  if (config.supervised && config.sim.empty() && !net::mpi_in_process()) {
    try {
      const auto started_by = launcher_here();
      if (started_by && started_by->size > 1) {
        return run_supervised(
            *started_by, [&](second_signal then) { return run_planned(prepare, say, then); }, say);
      }
    } catch (const usage_error&) {  // reported below
    }
  }
  return run_planned(prepare, say);
}

int launch(int argc, char** argv, const program_body& body, const launch_report& say) {
  return run_planned(
      [&] {
        auto config = settings::from_environment();
        const auto others = take_options(config, argc, argv);
        return rank_plan{config, [&body, others](world& w) { return body(w, others); }};
      },
      say);
}

int launch(int argc, char** argv, const rank_body& body, const launch_report& say) {
  return run_planned(
      [&] {
        auto config = settings::from_environment();
        const auto others = take_options(config, argc, argv);
        if (!others.empty()) throw usage_error("unexpected argument: " + others.front());
        return rank_plan{config, body};
      },
      say);
}

bool is_first_process() {
  const auto started_by = launcher_here();
  return !started_by || started_by->rank == 0;
}

std::string output_fault() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  if (errno == 0) {  // an earlier write failed; another one says why
    std::fputc('\n', stdout);
    std::fflush(stdout);
  }
  return std::string("standard output: cannot be written") +
         (errno == 0 ? "" : std::string(" (") + std::strerror(errno) + ")");
}

bool is_launched() { return launcher_here().has_value(); }

int refuse(const std::string& sentence, const launch_report& say) {
  return run_planned([&]() -> rank_plan { throw usage_error(sentence); }, say);
}

}  // namespace cairn
