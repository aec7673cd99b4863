// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

struct walk_options {
  std::uint64_t walkers = 0;  ///< at most 2^63; 0 if the graph has no vertices
  std::uint64_t length = 40;  ///< steps of a walker, at most; less than 2^32
  std::uint64_t key = 1;      ///< key of the random draws
};

struct walk_totals {
  std::uint64_t steps = 0;        ///< of all walkers
  std::uint64_t ended_early = 0;  ///< walkers that took fewer steps than `length`

  bool operator==(const walk_totals&) const = default;
};

struct walk_result {
  pgas::vertex_map<std::uint64_t> visits;  ///< times that a walker started or arrived
  std::uint64_t walkers, steps, ended_early, key;
  activity::ran ran;  ///< `why` says that walkers are messages

  static constexpr auto fields() {
    using r = walk_result;
    return std::tuple(
        field{"visits", &r::visits, "times that a walker started or arrived"},
        field{"walkers", &r::walkers, "number of walkers"},
        field{"steps", &r::steps, "steps of all walkers"},
        field{"ended_early", &r::ended_early, "walkers that stopped at a vertex without out-edges"},
        field{"key", &r::key, "key of the random draws, for `cairn verify`"},
        field{"ran", &r::ran, "how walkers travel"});
  }
};

/// How often random walkers visit each vertex.
///
/// Walker i, for i in [0, walkers), draws from random64(key, i). Its start is vertex below(n). Each
/// step draws below(d) at a vertex with d out-edges and follows the edge at this place of the row,
/// which ascends by target. A repeated edge counts as often as it occurs; an undirected self-loop
/// is one edge. The walker stops after `length` steps or at a vertex without out-edges. So the
/// visits depend on the graph, its order of vertices and the options only.
///
/// A walker is at the owner of its vertex. It is a message when it leaves the rank, and on its own
/// rank after many steps, so that other messages get their turn. A worker moves a group of walkers
/// together: it prefetches for all of them before it reads for the first, so their cache misses
/// overlap.
///
/// Returns     visits at their owners, all determined; their sum is walkers + steps
/// Work        O(n + walkers + steps)
/// Depth       one epoch
/// Messages    one of 16 bytes (24 with ids of 64 bits) per step to another rank, and per walker
///             that starts on another rank than the one that draws it
/// Memory      per rank: 8 bytes per vertex, and the messages in flight
/// Throws      contract_violation if an option is out of its range
/// Collective  same options on every rank
/// Source      [GMT14] graph random walk, where each step is a task's access to remote memory; here
///             walkers travel instead
template <class Id>
[[nodiscard]] walk_result walk(world& w, const graph::dist_csr<Id>& g, const walk_options& opt);

/// One sentence if the visits, or the totals where given, are not those of walk() with the same
/// options. Walks again, and sends a message for each step, also to the own rank.
///
/// visits      any contents
/// Returns     the same on every rank; of several wrong vertices the smallest
/// Work        that of walk()
/// Depth       one epoch
/// Messages    one per walker and one per step
/// Memory      per rank: 8 bytes per vertex, and the messages in flight
/// Throws      contract_violation as walk()
/// Collective  same options on every rank
template <class Id>
[[nodiscard]] std::optional<std::string> verify_walk(
    world& w, const graph::dist_csr<Id>& g, const walk_options& opt,
    const pgas::vertex_map<std::uint64_t>& visits,
    const std::optional<walk_totals>& totals = std::nullopt);

}  // namespace cairn::algo
