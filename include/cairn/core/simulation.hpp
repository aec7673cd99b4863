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

/// A simulated cluster: many ranks in one process, every order and delay decided by the seed.
///
/// It explores: any worker may be the next, packets take any time, and the clock says nothing of
/// speed. With `costs` it predicts: each worker has a clock, which moves by what its rank counts
/// (messages, edges, commits) and by what packets cost, and the seed decides between equals.
struct simulation_options {
  rank_t ranks = 4;
  int workers = 1;  ///< per rank
  std::uint64_t seed = 1;
  double latency_us = 1.5;  ///< mean time from send to arrival, at most 1e9; exploring
  /// Rank r is on machine r mod `machines`; 0: each rank is a machine of its own.
  int machines = 0;
  std::size_t max_packet = 8u << 10;  ///< bytes, from 256; larger messages travel in fragments
  std::optional<cluster_costs> costs = {};  ///< predict
};

/// Runs of one simulated cluster with the seeds first_seed, ..., last_seed.
struct simulation_plan {
  simulation_options cluster;
  std::uint64_t first_seed = 1, last_seed = 1;
};

/// Reads "ranks=128,latency_us=1.5,seed=7" or "...,seed=1..100"; also machines=N and
/// max_packet=BYTES. What is not named keeps its default. (Workers are not part of it: --threads
/// says how many.)
///
/// clock=loggp predicts, clock=FILE by the costs that the caller has read from that file; in both
/// cases latency_us and the other names of cluster_costs::set change them.
///
/// of_file   the costs; none: clock=FILE is refused
/// Throws    usage_error saying what was expected
[[nodiscard]] simulation_plan parse_simulation(std::string_view text,
                                               const std::optional<cluster_costs>& of_file = {});

/// The FILE of clock=FILE; empty: it names none.
/// Throws    usage_error for what is no list of names and values
[[nodiscard]] std::string clock_file_of(std::string_view simulation);

/// What a simulated run did. Equal for equal runs.
struct simulation_report {
  std::uint64_t fingerprint = 0;   ///< a hash of who ran when
  std::uint64_t turns = 0;         ///< how often a worker was chosen to run
  std::uint64_t simulated_ns = 0;  ///< predicting: when the last body ended
  std::uint64_t packets = 0, bytes = 0;
};

/// Runs `body` on every rank of a simulated cluster, all in this thread, and returns when all
/// have ended. Same options and body, same run: counters and bytes included, as long as the
/// body reads no clock but world.clock() and draws no random numbers of its own.
///
/// An exception that leaves a body makes every blocking call of the other ranks throw
/// peer_failure; the first is rethrown here.
///
/// Memory    O(1) per rank and worker until they are used, apart from what worlds take
/// Throws    what the first failing body threw; system_failure "simulated cluster stalled ..."
///           if all ranks wait and nothing is on its way
simulation_report run_simulated(const simulation_options& cluster, const world_options& options,
                                const std::function<void(world&)>& body);

}  // namespace cairn
