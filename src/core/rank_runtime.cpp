// SPDX-License-Identifier: Apache-2.0
#include "core/rank_runtime.hpp"

#include <algorithm>

#include <cairn/base/error.hpp>
#include <cairn/hw/topology.hpp>

#include "core/agreed_failure.hpp"
#include "core/watchdog.hpp"

namespace cairn {
namespace {

std::unique_ptr<task::pool> make_workers(const settings& config, const rank_position& here) {
  const auto workers =
      config.threads != 0 ? config.threads : std::max(1, hw::allowed_cores() / here.sharers);
  return task::make_threads({.workers = workers,
                             .pin = config.pin,
                             .first_core = here.position * workers,
                             .neighbors = (here.sharers - 1) * workers});
}

world_options options_for(const settings& config, const rank_position& here) {
  auto options = config.for_world();
  options.machines = here.machines;
  return options;
}

// The maximum over the ranks, for which all of them ask again if they are cancelled meanwhile.
std::uint64_t uninterrupted_max(world& w, std::uint64_t mine) {
  for (;;) {
    try {
      return w.max(mine);
    } catch (const cancelled&) {
    }
  }
}

}  // namespace

int run_together(world& w, const rank_body& body, const interrupt_handler& interrupts) {
  int status = 0;
  bool ended_by_request = false;
  try {
    status = body(w);
  } catch (const cancelled&) {
    ended_by_request = true;
  }
  if (uninterrupted_max(w, ended_by_request ? 1 : 0) == 0) return status;
  // The rank that knows the cause may be one whose body had already ended.
  const auto cause = std::max(interrupts.cause().number(), stop_cause::program().number());
  throw stopped(stop_cause(uninterrupted_max(w, cause)));
}

rank_runtime::rank_runtime(net::transport& net, const settings& config, const rank_position& here)
    : config_(config),
      workers_(make_workers(config, here)),
      world_(net, *workers_, clock_, options_for(config, here)) {}

// A rank that has ended does not poll, so before that all ranks have received what detached tasks
// asked (first round) and the answers (second).
void rank_runtime::finish_sending() {
  world_.messages().close_tasks();
  for (int round = 0; round < 2; ++round) {
    workers_->run([this](worker_t k) { world_.messages().make_progress(k, true); });
    world_.messages().drain();
    uninterrupted_max(world_, 0);
  }
}

rank_result rank_runtime::run(const rank_body& body, interrupt_handler& interrupts,
                              const launch_report& say) {
  rank_result result;
  const interrupt_handler::interruptible by_signal(interrupts, world_);
  try {
    const watchdog watching(world_, config_, say);
    try {
      result.status = run_together(world_, body, interrupts);
    } catch (const agreed_failure& e) {  // on all ranks
      result = {1, e.what(), e.rank() == world_.rank()};
      if (world_.size() > 1) result.sentence = peer_failure(e.rank(), e.what()).what();
    } catch (const cancelled&) {  // on all ranks
      result = result_by_exception();
    }
    finish_sending();
    return result;
  } catch (const peer_failure& e) {
    return {1, e.what(), e.rank() == world_.rank()};
  } catch (...) {
    result = result_by_exception();
  }
  if (world_.size() == 1) return result;
  const auto text = result.sentence;
  if (result.status == 1) result.sentence = peer_failure(world_.rank(), text).what();
  world_.poison(text);
  return result;
}

}  // namespace cairn
