// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

namespace cairn {

/// A simulated cluster: many ranks in one process. The seed decides every order and delay.
///
/// Without `costs` it explores: any worker may run next, packets take any time, and the clock says
/// nothing about speed. With `costs` it predicts: each worker has a clock, which advances by the
/// work that it counts (messages, edges, commits) and by packet costs, and the seed breaks ties.
struct simulation_options {
  rank_t ranks = 4;
  int workers = 1;  ///< per rank
  std::uint64_t seed = 1;
  double latency_us = 1.5;  ///< of net::sim_options, at most 1e9; when exploring
  /// Rank r is on machine r mod `machines`; 0: each rank has its own machine.
  int machines = 0;
  std::size_t max_packet = 8u << 10;        ///< bytes, at least 256; larger messages are fragmented
  std::optional<cluster_costs> costs = {};  ///< if set: predicts
};

/// Runs of one simulated cluster with the seeds first_seed, ..., last_seed.
struct simulation_plan {
  simulation_options cluster;
  std::uint64_t first_seed = 1, last_seed = 1;
  bool is_series = false;  ///< the seeds were given as a range, which may be one seed
};

/// Reads "ranks=128,latency_us=1.5,seed=7" or "...,seed=1..100"; also machines=N and
/// max_packet=BYTES. Omitted names keep their defaults. --threads sets the number of workers.
///
/// clock=loggp predicts with default costs, clock=FILE with the costs that the caller has read from
/// that file. In both cases latency_us and the other names of cluster_costs::set change them.
///
/// of_file   the costs; none: clock=FILE is refused
/// Throws    usage_error that says what was expected
[[nodiscard]] simulation_plan parse_simulation(std::string_view text,
                                               const std::optional<cluster_costs>& of_file = {});

/// The FILE of clock=FILE; empty if there is none.
/// Throws    usage_error if the text is not a list of names and values
[[nodiscard]] std::string clock_file_of(std::string_view simulation);

/// Statistics of a simulated run. Equal for equal runs.
struct simulation_report {
  std::uint64_t fingerprint = 0;   ///< a hash of which worker ran when
  std::uint64_t turns = 0;         ///< how often a worker was chosen to run
  std::uint64_t simulated_ns = 0;  ///< when predicting: the time at which the last body ended
  std::uint64_t packets = 0, bytes = 0;
};

/// Runs `body` on every rank of a simulated cluster, all in this thread, and returns when all have
/// ended. The same options and body give the same run, including counters and bytes, if the body
/// reads no clock but world.clock() and draws no random numbers of its own.
///
/// An exception that leaves a body makes every blocking call of the other ranks throw peer_failure;
/// the first exception is rethrown here.
///
/// Memory    O(1) per rank and worker until it is used, plus the worlds
/// Throws    the first exception of a body; system_failure "simulated cluster stalled ..." if all
///           ranks wait and nothing is in flight
simulation_report run_simulated(const simulation_options& cluster, const world_options& options,
                                const std::function<void(world&)>& body);

}  // namespace cairn
