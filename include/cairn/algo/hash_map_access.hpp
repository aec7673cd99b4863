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

/// The origin of an entry, which is its value in the map.
enum class string_origin : std::uint8_t { pool, reversed };

using string_map = pgas::hash_map<pool_string, string_origin>;

struct hash_map_access_options {
  std::uint64_t tasks = 4096;       ///< number of tasks on all ranks, at least 1
  std::uint64_t steps = 256;        ///< steps of each task
  std::uint64_t entries = 0;        ///< initial entries, from 1 to the size of the pool
  std::uint64_t max_live = 16'384;  ///< concurrent tasks of a worker, at least 1
  /// If set: any worker calls progress(accesses done, all accesses) for this rank's share.
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

struct hash_map_access_totals {
  std::uint64_t accesses = 0;  ///< tasks times steps
  std::uint64_t found = 0;     ///< accesses that found their string
  std::uint64_t stored = 0;    ///< reversed strings that were added to the map
};

/// Stores the strings of the pool with numbers floor(j * size / entries), for j < entries, in an
/// empty map.
///
/// Work        O(entries)
/// Messages    two per string whose owner is another rank
/// Throws      contract_violation if an option is out of its range; as the map's insert()
/// Collective  same options and pool on every rank
void populate(world& w, const string_pool& pool, string_map& map,
              const hash_map_access_options& opt);

/// Concurrent hash map access: each task makes `steps` steps. A step takes the next input of the
/// task and looks it up in the map. If the map contains it, the step reverses its characters and
/// stores the result unless the map contains that too. Input k of task t is string
/// floor(t * size / tasks) + k of the pool, modulo its size.
///
/// The final set of entries does not depend on the order of accesses. A string that is found is
/// either an initial entry or the reverse of one; in the second case the map already contains the
/// string to store. The final entries are therefore the initial entries and the reverses of those
/// that are inputs, and `stored` is determined. `found` is not determined: an input that is in the
/// map only as a reversed string is found only if that string was stored earlier.
///
/// Rank r runs the r-th of equal blocks of tasks, at most `max_live` concurrently per worker.
///
/// Returns     the totals of all ranks
/// Work        O(tasks * steps)
/// Messages    two per access to an entry of another rank: one access per step, and another one if
///             its string is found
/// Throws      contract_violation if an option is out of its range
/// Collective  same options and pool on every rank, after populate()
/// Source      [GMT14] section V.D, which does not specify the step after a reversed string is
///             stored. Continuing with that string would alternate between the two, so the task
///             takes the next input, as it does when the string is not found
[[nodiscard]] hash_map_access_totals access_hash_map(world& w, const string_pool& pool,
                                                     string_map& map,
                                                     const hash_map_access_options& opt);

/// The sum of mix64(h + o) over the entries of all ranks, modulo 2^64. h is the byte_hash of the
/// string; o is 1 for a reversed string, else 0. Equal sets of entries have equal checksums.
/// Collective
[[nodiscard]] std::uint64_t checksum_of(world& w, const string_map& map);

/// One sentence if the map or the totals are not a valid result of populate() and
/// access_hash_map(). Rank 0 repeats both serially with standard containers. It compares the number
/// of each rank's entries, two sums of hashes over them, and `stored`. `found` must be at least the
/// number of inputs among the initial entries and at most the number of inputs among the final
/// entries.
///
/// Returns     the same on every rank
/// Work        O(entries + tasks * steps) on rank 0
/// Memory      about 64 bytes per entry at the end, on rank 0
/// Collective
[[nodiscard]] std::optional<std::string> verify_hash_map_access(
    world& w, const string_pool& pool, const string_map& map, const hash_map_access_options& opt,
    const hash_map_access_totals& totals);

}  // namespace cairn::algo
