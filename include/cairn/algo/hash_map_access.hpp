// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <cairn/algo/string_pool.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/hash_map.hpp>

namespace cairn::algo {

/// How an entry came into the map: it is its value.
enum class string_origin : std::uint8_t { pool, reversed };

using string_map = pgas::hash_map<pool_string, string_origin>;

struct hash_map_access_options {
  std::uint64_t tasks = 4096;  ///< of all ranks together, at least 1
  std::uint64_t steps = 256;   ///< of each task
  std::uint64_t entries = 0;   ///< strings of the pool that are stored before, 1 to its size
  /// If set: called by any worker with the accesses that this rank has made, and all it will make.
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

struct hash_map_access_totals {
  std::uint64_t accesses = 0;  ///< tasks times steps
  std::uint64_t found = 0;     ///< accesses that found their string
  std::uint64_t stored = 0;    ///< reversed strings that were not there before
};

/// Stores the strings of the pool with numbers floor(j * size / entries), for j below `entries`, in
/// an empty map.
///
/// Collective  same options and pool on every rank
void populate(world& w, const string_pool& pool, string_map& map,
              const hash_map_access_options& opt);

/// Concurrent hash map access: each task makes `steps` steps. A step takes the next input of the
/// task and looks it up in the map. If it is there, its characters are reversed and the result is
/// stored unless it is there, too. Input k of task t is string floor(t * size / tasks) + k of the
/// pool, modulo its size.
///
/// The set of entries at the end is determined, whatever the order of accesses: a string that is
/// found is one of the pool's that were stored at the beginning, or the reverse of one. In the
/// second case the string to store is there already. So the entries at the end are those of the
/// beginning and the reverses of those that are inputs; `stored` is determined, too. `found` is
/// not: an input that is only there as a reversed string is found if that was stored before.
///
/// Rank r runs the tasks of the r-th of equal blocks, at most 16,384 of a worker at once.
///
/// Returns     the totals of all ranks
/// Work        O(tasks * steps)
/// Messages    two per access to an entry of another rank: one access per step, and another one if
///             its string is found
/// Throws      contract_violation if an option is out of its range
/// Collective  same options and pool on every rank, after populate()
/// Source      [GMT14] section VI.D. It does not say what follows when a reversed string is stored.
///             If the task went on with that one, the two would alternate to its end, so it takes
///             the next input as it does when the string is not found
[[nodiscard]] hash_map_access_totals access_hash_map(world& w, const string_pool& pool,
                                                     string_map& map,
                                                     const hash_map_access_options& opt);

/// A sum over the entries of all ranks, modulo 2^64, of mix64(h + o): h is the byte_hash of the
/// string, o is 1 if it is a reversed one, else 0. The same for equal sets of entries.
/// Collective
[[nodiscard]] std::uint64_t checksum_of(world& w, const string_map& map);

/// One sentence if the map or the totals are not what populate() and access_hash_map() must leave.
/// Rank 0 repeats both serially, with the containers of the standard library. It compares the
/// number of each rank's entries and two sums over them; `stored`; and whether `found` is at least
/// the number of inputs that were there from the beginning, and at most that of those that are
/// there at the end.
///
/// Returns     the same on every rank
/// Work        O(entries + tasks * steps) on rank 0
/// Memory      about 64 bytes per entry at the end, on rank 0
/// Collective
[[nodiscard]] std::optional<std::string> verify_hash_map_access(
    world& w, const string_pool& pool, const string_map& map, const hash_map_access_options& opt,
    const hash_map_access_totals& totals);

}  // namespace cairn::algo
