// SPDX-License-Identifier: Apache-2.0
#include "core/rank_runtime.hpp"

#include <algorithm>

#include <cairn/base/error.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn {
namespace {

std::unique_ptr<task::pool> make_workers(const settings& config, const place& here) {
  const auto workers =
      config.threads != 0 ? config.threads : std::max(1, hw::allowed_cores() / here.sharers);
  return task::make_threads(
      {.workers = workers, .pin = config.pin, .first_core = here.position * workers});
}

world_options options_for(const settings& config, const place& here) {
  auto options = config.for_world();
  options.machines = here.machines;
  return options;
}

}  // namespace

int run_together(world& w, const rank_body& body) {
  int status = 0;
  bool stopped = false;
  try {
    status = body(w);
  } catch (const cancelled&) {
    stopped = true;
  }
  for (bool agreed = false; !agreed;) {
    try {
      stopped = w.any(stopped);
      agreed = true;
    } catch (const cancelled&) {  // also if another rank's body stopped; retry
    }
  }
  if (stopped) throw cancelled();
  return status;
}

rank_runtime::rank_runtime(net::transport& net, const settings& config, const place& here)
    : workers_(make_workers(config, here)),
      world_(net, *workers_, clock_, options_for(config, here)) {}

rank_result rank_runtime::run(const rank_body& body, interrupt_handler& interrupts) {
  rank_result result;
  const interrupt_handler::interruptible by_signal(interrupts, world_);
  try {
    result.status = run_together(world_, body);
    return result;
  } catch (const cancelled&) {  // on all ranks
    return result_by_exception();
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
