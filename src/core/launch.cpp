// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/net/mixed.hpp>
#include <cairn/net/mpi.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/task/pool.hpp>

#include "core/launcher.hpp"
#include "core/local_ranks.hpp"

namespace cairn {
namespace {

/// The ending that the exception in flight means.
ending ending_by_exception() {
  try {
    throw;
  } catch (const usage_error& e) {
    return {2, e.what(), true};
  } catch (const input_error& e) {
    return {2, e.what(), true};
  } catch (const std::bad_alloc&) {
    return {1, "out of memory", true};
  } catch (const std::exception& e) {
    return {1, e.what(), true};
  } catch (...) {
    return {1, "an exception of unknown type", true};
  }
}

/// Where a rank stands among those of its machine.
struct place {
  int sharers = 1;   ///< ranks that may run on its cores
  int position = 0;  ///< among them
};

int workers_for(const settings& how, const place& here) {
  return how.threads != 0 ? how.threads : std::max(1, hw::allowed_cores() / here.sharers);
}

/// Runs the body on one rank; if it fails, sees to it that the others learn.
ending run_rank(net::transport& net, const settings& how, const place& here,
                const rank_body& body) {
  const auto workers = workers_for(how, here);
  const auto pool = task::make_threads(
      {.workers = workers, .pin = how.pin, .first_core = here.position * workers});
  hw::steady_clock clock;
  world w(net, *pool, clock, how.for_world());
  ending how_it_ended;
  try {
    how_it_ended.status = body(w);
    w.barrier();  // nobody leaves while another may still need it
    return how_it_ended;
  } catch (const peer_failure& e) {
    return {1, e.what(), e.rank() == w.rank()};
  } catch (...) {
    how_it_ended = ending_by_exception();
  }
  if (w.size() == 1) return how_it_ended;
  const auto text = how_it_ended.sentence;
  if (how_it_ended.status == 1) how_it_ended.sentence = peer_failure(w.rank(), text).what();
  w.poison(text);
  return how_it_ended;
}

ending run_alone(const settings& how, const rank_body& body) {
  net::ring_transport nobody(std::make_shared<net::ring_fabric>(1), 0);
  return run_rank(nobody, how, {}, body);
}

ending run_locally(const settings& how, const rank_body& body) {
  const auto memory = net::segment::shared(net::ring_fabric::bytes_needed(how.ranks));
  memory->hide();
  return run_local_ranks(how.ranks, [&](rank_t rank) -> ending {
    try {
      net::ring_transport rings(std::make_shared<net::ring_fabric>(memory, how.ranks), rank);
      return run_rank(rings, how, {.sharers = how.ranks, .position = rank}, body);
    } catch (...) {
      return ending_by_exception();
    }
  });
}

ending run_in_simulation(const settings& how, const rank_body& body) {
  if (how.ranks != 0) throw usage_error("--sim names the ranks itself: leave --ranks out");
  auto plan = parse_simulation(how.sim);
  plan.cluster.workers = std::max(how.threads, 1);
  auto options = how.for_world();
  // Those of hardware would abort as they like, and no run could be replayed from its seed.
  const bool explores = !plan.cluster.costs;
  options.emulate_transactions = how.mechanism == "htm" || (explores && how.mechanism == "auto");
  for (auto seed = plan.first_seed; seed <= plan.last_seed; ++seed) {
    plan.cluster.seed = seed;
    options.emulation_seed = seed;
    int status = 0;
    try {
      run_simulated(plan.cluster, options, [&](world& w) {
        const int of_rank = body(w);
        if (status == 0) status = of_rank;
      });
    } catch (...) {
      auto failed = ending_by_exception();
      if (plan.first_seed != plan.last_seed && failed.status == 1) {
        failed.sentence = "seed " + std::to_string(seed) + ": " + failed.sentence;
      }
      return failed;
    }
    if (status != 0) return {status, "", true};
  }
  return {};
}

/// The way to all peers of a rank under mpiexec, as the settings want it. Collective.
std::unique_ptr<net::transport> connect(net::mpi_job& job, const net::machine_map& map,
                                        const settings& how) {
  const auto neighbours = map.neighbours(job.self());
  const bool one_machine = static_cast<rank_t>(neighbours.size()) == job.size();
  if (how.transport == transport_kind::mpi) return job.open();
  if (how.transport == transport_kind::ring && !one_machine) {
    throw usage_error("--transport ring wants all ranks on one machine");
  }
  auto near = net::make_machine_rings(job, map);
  if (near && one_machine) return near;
  if (how.transport == transport_kind::ring && job.size() > 1) {
    throw system_failure(
        "the ranks of this machine cannot share memory, which --transport ring "
        "wants");
  }
  auto far = job.open();
  if (!near) return far;
  return std::make_unique<net::mixed_transport>(std::move(near), neighbours, std::move(far));
}

/// How the job ended, the same on all ranks: as the first rank that failed by itself did, else
/// as the first that had another status than 0. Collective.
ending ending_of_all(net::mpi_job& job, const ending& mine) {
  struct record {
    int status = 0;
    bool caused_here = false;
    std::array<char, 1000> sentence{};
  } brought;
  brought.status = mine.status;
  brought.caused_here = mine.caused_here;
  mine.sentence.copy(brought.sentence.data(), brought.sentence.size() - 1);
  const auto bytes = job.all_gather(std::as_bytes(std::span(&brought, 1)));
  ending all;
  for (auto at = bytes.begin(); at != bytes.end(); at += sizeof(record)) {
    record r;
    std::memcpy(&r, &*at, sizeof r);
    const bool first_cause = r.caused_here && !all.caused_here;
    if (first_cause || all.status == 0) all = {r.status, r.sentence.data(), r.caused_here};
  }
  return all;
}

int run_under(const launcher& started_by, const settings& how, const rank_body& body,
              const launch_report& say) {
  const auto ranks = std::to_string(started_by.size);
  if (how.ranks != 0 && how.ranks != started_by.size) {
    throw usage_error("--ranks " + std::to_string(how.ranks) + " contradicts " + started_by.name +
                      ", which started " + ranks);
  }
  auto kind = net::mpi_in_process().value_or(started_by.kind);
  if (how.mpi != net::mpi_kind::automatic) kind = how.mpi;
  if (kind == net::mpi_kind::automatic) {
    throw usage_error(started_by.name + " started " + ranks +
                      " ranks but does not say for which MPI: use srun --mpi=pmi2 or --mpi=pmix");
  }
  auto folders = net::plugin_folders();
  if (!how.plugins.empty()) folders = {how.plugins};
  const auto job = net::mpi_job::start(kind, folders);
  if (job->size() != started_by.size) {
    throw usage_error(started_by.name + " started " + ranks + " ranks, but " +
                      std::string(net::name(kind)) + " sees " + std::to_string(job->size()) +
                      ": launcher and MPI do not belong together");
  }
  const auto map = net::machine_map::gather(*job, how.machines);
  const auto net = connect(*job, map, how);
  const auto neighbours = map.neighbours(job->self());
  const auto position = std::find(neighbours.begin(), neighbours.end(), job->self());
  const place here{
      .sharers = map.sharers,
      .position = map.sharers > 1 ? static_cast<int>(position - neighbours.begin()) : 0};
  const auto ended = ending_of_all(*job, run_rank(*net, how, here, body));
  // Rank 0 speaks, and nobody leaves before: mpiexec may end all with the first bad status.
  if (job->self() == 0 && !ended.sentence.empty()) say(ended.sentence);
  static_cast<void>(job->all_gather(std::as_bytes(std::span("", 1))));
  return ended.status;
}

int run_somewhere(const settings& how, const std::optional<launcher>& started_by,
                  const rank_body& body, const launch_report& say) {
  const bool many = started_by && started_by->size > 1;
  ending ended;
  if (!how.sim.empty()) {
    if (many) throw usage_error("--sim runs in one process, not under " + started_by->name);
    ended = run_in_simulation(how, body);
  } else if (many || (started_by && how.transport == transport_kind::mpi)) {
    return run_under(*started_by, how, body, say);
  } else {
    if (how.transport == transport_kind::mpi) throw usage_error("--transport mpi wants mpiexec");
    if (how.machines != 0) throw usage_error("--machines wants mpiexec");
    ended = how.ranks > 1 ? run_locally(how, body) : run_alone(how, body);
  }
  if (!ended.sentence.empty()) say(ended.sentence);
  return ended.status;
}

/// Runs f(launcher). Of processes that fail in the same way before they can speak to each
/// other, rank 0 speaks, and the others wait until it has: mpiexec ends all with the first.
template <class F>
int speaking_once(const launch_report& say, F&& f) {
  std::optional<launcher> started_by;
  ending failed;
  try {
    started_by = find_launcher([](const char* name) -> const char* { return std::getenv(name); });
    return f(started_by);
  } catch (...) {
    failed = ending_by_exception();
  }
  if (started_by && started_by->rank != 0) {
    const timespec a_while{0, 300'000'000};
    nanosleep(&a_while, nullptr);
  } else {
    say(failed.sentence);
  }
  return failed.status;
}

std::vector<std::string> take_options(settings& how, int argc, char** argv) {
  const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  return how.take_options(given);
}

}  // namespace

int run(const settings& how, const rank_body& body, const launch_report& say) {
  return speaking_once(say, [&](const std::optional<launcher>& started_by) {
    return run_somewhere(how, started_by, body, say);
  });
}

int launch(int argc, char** argv, const program_body& body, const launch_report& say) {
  return speaking_once(say, [&](const std::optional<launcher>& started_by) {
    auto how = settings::from_environment();
    const auto others = take_options(how, argc, argv);
    return run_somewhere(
        how, started_by, [&](world& w) { return body(w, others); }, say);
  });
}

int launch(int argc, char** argv, const rank_body& body, const launch_report& say) {
  return speaking_once(say, [&](const std::optional<launcher>& started_by) {
    auto how = settings::from_environment();
    const auto others = take_options(how, argc, argv);
    if (!others.empty()) throw usage_error("unexpected argument '" + others.front() + "'");
    return run_somewhere(how, started_by, body, say);
  });
}

}  // namespace cairn
