// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <cairn/core/simulation.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/net/ring.hpp>
#include <cairn/task/pool.hpp>

#include <support/chaos_transport.hpp>
#include <support/network_seed.hpp>

namespace cairn::support {

/// Converts a rank's transport to the one that on_ranks uses.
using transport_wrapper =
    std::function<std::unique_ptr<net::transport>(std::unique_ptr<net::transport>)>;

/// Runs body on `ranks` ranks of `workers` workers each, all threads of this process, over rings,
/// and all on one machine unless the options say otherwise. Throws the first exception of a body
/// that is not caused by another rank's failure.
///
/// If the body of one rank returns early (a failed ASSERT_), the others wait forever. In a body,
/// use EXPECT_ for conditions on which other ranks depend.
inline void on_ranks(rank_t ranks, int workers, const std::function<void(world&)>& body,
                     const world_options& config = {}, const transport_wrapper& wrapper = {}) {
  auto options = config;
  if (options.machines.machine_of.empty()) options.machines = machine_layout::dealt(ranks, 1);
  options.machines.heap = std::make_shared<shared_heap>();
  const auto fabric = std::make_shared<const net::ring_fabric>(ranks);
  std::mutex guard;
  std::exception_ptr error, heard;
  const auto keep = [&](std::exception_ptr& first) {
    const std::lock_guard held(guard);
    if (!first) first = std::current_exception();
  };
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      std::unique_ptr<net::transport> net = std::make_unique<net::ring_transport>(fabric, r);
      if (wrapper) net = wrapper(std::move(net));
      const auto pool = task::make_threads({.workers = workers});
      hw::steady_clock clock;
      world w(*net, *pool, clock, options);
      try {
        body(w);
      } catch (const peer_failure&) {
        keep(heard);
      } catch (const std::exception& e) {
        keep(error);
        w.poison(e.what());
      } catch (...) {
        keep(error);
        w.poison("an exception of unknown type");
      }
    });
  }
  for (auto& t : threads) t.join();
  if (error) std::rethrow_exception(error);
  if (heard) std::rethrow_exception(heard);
}

/// on_ranks over rings that delay, reorder and refuse packets, depending on the seed.
/// CAIRN_TEST_SEED overrides the seed, here and below.
inline void on_chaotic_ranks(rank_t ranks, int workers, std::uint64_t seed,
                             const std::function<void(world&)>& body,
                             const world_options& options = {}) {
  const network_seed used(seed);
  on_ranks(ranks, workers, body, options, [&](std::unique_ptr<net::transport> net) {
    return std::make_unique<chaos_transport>(std::move(net), used.value());
  });
}

/// on_ranks on a simulated cluster; the seed determines everything.
inline simulation_report on_simulated_ranks(rank_t ranks, int workers, std::uint64_t seed,
                                            const std::function<void(world&)>& body,
                                            const world_options& options = {}) {
  const network_seed used(seed);
  return run_simulated({.ranks = ranks, .workers = workers, .seed = used.value()}, options, body);
}

}  // namespace cairn::support
