// SPDX-License-Identifier: Apache-2.0
#include "core/mpi_ranks.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/net/mixed.hpp>
#include <cairn/net/mpi.hpp>

#include "core/interrupt.hpp"
#include "core/rank_result.hpp"
#include "core/rank_runtime.hpp"
#include "core/time_limit.hpp"

namespace cairn {
namespace {

/// The launcher and the MPI do not match. Every rank detects it, so only rank 0 reports it.
class wrong_launcher : public usage_error {
 public:
  using usage_error::usage_error;
};

/// This rank has failed, and the others do not receive its messages: they are at work, or lost.
struct unable_to_inform : std::exception {
  explicit unable_to_inform(rank_result mine) : result(std::move(mine)) {}
  rank_result result;
};

// How long a rank that cannot know whether rank 0 fails too lets rank 0 report first. mpiexec ends
// all ranks long before, when the first exits with a bad status.
constexpr timespec delay_for_rank_0_report{2, 0};
constexpr timespec delay_for_job_end{0, 300'000'000};
// mpiexec may drop output that a rank wrote just before it asked for the end of the job.
constexpr timespec delay_for_launcher_output{0, 200'000'000};

void check_settings(const settings& config, const launcher& started_by) {
  if (!config.sim.empty()) {
    throw usage_error("--sim runs in one process, not under " + started_by.name);
  }
  if (config.ranks != 0 && config.ranks != started_by.size) {
    throw usage_error("--ranks " + std::to_string(config.ranks) + " contradicts " +
                      started_by.name + ", which started " + std::to_string(started_by.size));
  }
}

std::shared_ptr<net::mpi_process> start_mpi(const settings& config, const launcher& started_by) {
  const auto ranks = std::to_string(started_by.size);
  auto kind = net::mpi_in_process().value_or(started_by.kind);
  if (config.mpi != net::mpi_kind::automatic) kind = config.mpi;
  if (kind == net::mpi_kind::automatic) {
    throw wrong_launcher(started_by.name + " started " + ranks +
                         " ranks but does not say for which MPI: use srun --mpi=pmi2 or "
                         "--mpi=pmix");
  }
  auto folders = net::plugin_folders();
  if (!config.plugins.empty()) folders = {config.plugins};
  auto process = net::mpi_process::start(kind, folders);
  if (process->size() != started_by.size) {
    throw wrong_launcher(started_by.name + " started " + ranks + " ranks, but " +
                         std::string(net::name(kind)) + " sees " + std::to_string(process->size()) +
                         ": the launcher belongs to another MPI");
  }
  return process;
}

/// The transport to all peers, as the settings require. Collective.
std::unique_ptr<net::transport> connect(net::mpi_process& process, const net::machine_map& map,
                                        const settings& config) {
  const auto neighbors = map.neighbors(process.self());
  const bool one_machine = static_cast<rank_t>(neighbors.size()) == process.size();
  if (config.transport == transport_kind::mpi) return process.open(process.size() > 1 ? 1 : 0);
  if (config.transport == transport_kind::ring && !one_machine) {
    throw usage_error("--transport ring requires all ranks on one machine");
  }
  auto local = net::make_machine_rings(process, map);
  if (local && one_machine) return local;
  if (config.transport == transport_kind::ring && process.size() > 1) {
    throw system_failure(
        "the ranks of this machine cannot share memory, which --transport ring requires");
  }
  // The first rank that rank 0 reaches by MPI.
  const auto& machine_of = map.machine_of;
  const auto far = std::ranges::find_if(machine_of, [&](int m) { return m != machine_of[0]; });
  const auto beyond = static_cast<rank_t>(far - machine_of.begin());
  const auto responder = beyond < process.size() ? beyond : rank_t{process.size() > 1};
  auto remote = process.open(responder);
  if (!local) return remote;
  return std::make_unique<net::mixed_transport>(std::move(local), neighbors, std::move(remote));
}

/// The result of the job, the same on all ranks: that of the first rank that failed by itself, else
/// of the first rank with a nonzero status. Collective.
rank_result result_of_all(net::mpi_process& process, const rank_result& mine) {
  struct record {
    int status = 0;
    bool caused_here = false;
    std::array<char, 1000> sentence{};
  } own_record;
  own_record.status = mine.status;
  own_record.caused_here = mine.caused_here;
  mine.sentence.copy(own_record.sentence.data(), own_record.sentence.size() - 1);
  const auto bytes = process.all_gather(std::as_bytes(std::span(&own_record, 1)));
  rank_result all;
  for (auto at = bytes.begin(); at != bytes.end(); at += sizeof(record)) {
    record r;
    std::memcpy(&r, &*at, sizeof r);
    const bool first_cause = r.caused_here && !all.caused_here;
    if (first_cause || all.status == 0) all = {r.status, r.sentence.data(), r.caused_here};
  }
  return all;
}

/// Constructs the rank's world and runs its body in it. Collective.
///
/// Throws    unable_to_inform
rank_result run_connected(net::mpi_process& process, const rank_plan& plan,
                          interrupt_handler& interrupts, const launch_report& say) {
  const auto map = net::machine_map::gather(process, plan.config.machines);
  std::unique_ptr<net::transport> net;
  std::optional<rank_runtime> rank;
  rank_result mine;
  try {
    net = connect(process, map, plan.config);
  } catch (const system_failure&) {  // not bad_alloc, which may occur while others gather
    mine = result_by_exception();
  }
  if (net) {
    const rank_position here{
        .sharers = map.sharers, .position = map.place, .machines = {map.machine_of}};
    mine = result_of([&] { rank.emplace(*net, plan.config, here); });
    if (mine.status == 1) mine.sentence = peer_failure(process.self(), mine.sentence).what();
  }
  rank_result all;
  const auto gather = [&] { all = result_of_all(process, mine); };
  if (!rank) {
    gather();
    return all;
  }
  const auto gather_unless_alone = [&] {
    if (rank->use_network(mine.caused_here, gather)) return;
    static_cast<void>(net.release());  // closing it could wait for the ranks that do not answer
    throw unable_to_inform(mine);
  };
  gather_unless_alone();
  if (all.status == 0) {
    mine = rank->run(plan.body, interrupts, say);
    gather_unless_alone();
  }
  return all;
}

void wait(const timespec& duration) { nanosleep(&duration, nullptr); }

}  // namespace

int run_mpi_ranks(const launcher& started_by, const std::function<rank_plan()>& prepare,
                  const launch_report& say, interrupt_handler::second then) {
  interrupt_handler interrupts(then, 1);
  std::shared_ptr<net::mpi_process> process;
  rank_result ended;
  try {
    rank_plan plan;
    ended = result_of([&] {
      plan = prepare();
      check_settings(plan.config, started_by);
    });
    const timed_stop limit(interrupts, time_limit::from_now(plan.config), [&](stop_cause cause) {
      if (started_by.rank != 0) wait(delay_for_rank_0_report);
      say(cause.sentence() + ", but the ranks did not stop");
      _exit(cause.status());
    });
    // A rank with bad settings also starts MPI, because the others wait for it there.
    process = start_mpi(plan.config, started_by);
    ended = result_of_all(*process, ended);
    if (ended.status == 0) ended = run_connected(*process, plan, interrupts, say);
    // Rank 0 reports before any rank exits: mpiexec may end all ranks at the first bad status.
    if (process->self() == 0 && !ended.sentence.empty()) say(ended.sentence);
    static_cast<void>(process->all_gather(std::as_bytes(std::span("", 1))));
    return ended.status;
  } catch (const wrong_launcher& e) {
    if (started_by.rank == 0) {
      say(e.what());
    } else {
      wait(delay_for_job_end);
    }
    return 2;
  } catch (const unable_to_inform& e) {
    ended = e.result;
  } catch (...) {
    if (ended.status == 0) ended = result_by_exception();
  }
  // The other ranks wait in a collective, unless they failed alike.
  if (started_by.rank != 0) {
    wait(delay_for_rank_0_report);
    // Rank 0 has reported, and the launcher ends the job.
    if (interrupt_handler::was_asked_to_stop()) return ended.status;
  }
  say(ended.sentence);
  wait(delay_for_launcher_output);
  if (process) {
    process->abort(ended.status);
  } else {
    end_job(started_by, ended.status);
  }
  return ended.status;
}

}  // namespace cairn
