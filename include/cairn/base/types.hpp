// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace cairn {

/// A rank: a process, or a thread that stands for one. 0 .. world.size() - 1.
using rank_t = std::int32_t;

/// A worker: a thread (or fiber) of one rank. 0 .. world.workers() - 1; worker 0 runs the body.
///
/// A type of its own, so that `send(worker, rank, message)` does not compile with the two swapped:
/// a worker converts to its number, but no number converts to a worker. Worker 3 is `worker_t{3}`.
enum worker_t : std::int32_t { main_worker = 0 };

/// The next worker, for loops.
constexpr worker_t& operator++(worker_t& w) noexcept { return w = worker_t{w + 1}; }

/// Means "no vertex" in arrays of vertex ids; never a valid id of a graph of that width.
template <class Id>
inline constexpr Id no_vertex = std::numeric_limits<Id>::max();

/// For products of two words; no standard type is wide enough.
__extension__ using uint128_t = unsigned __int128;

/// Size of a cache line, the unit of false sharing.
inline constexpr std::size_t cache_line = 64;

/// A value on its own cache lines, so that neighbors in an array do not contend.
template <class T>
struct alignas(cache_line) padded {
  T value{};
};

}  // namespace cairn
