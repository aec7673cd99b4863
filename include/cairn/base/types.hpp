// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace cairn {

/// A rank: a process, or a thread that stands for one. 0 .. world.size() - 1.
using rank_t = std::int32_t;

/// A worker: a thread (or fiber) of one rank. 0 .. world.workers() - 1; worker 0 runs the body.
///
/// A type of its own, so that `send(worker, rank, message)` does not take the two the other way
/// round: no integer becomes a worker by itself, but a worker is its number where one is wanted.
class worker_t {
 public:
  explicit constexpr worker_t(std::integral auto number) noexcept
      : number_(static_cast<std::int32_t>(number)) {}

  constexpr operator std::int32_t() const noexcept { return number_; }
  constexpr worker_t& operator++() noexcept {
    ++number_;
    return *this;
  }

 private:
  std::int32_t number_;
};

/// The worker that runs the body.
inline constexpr worker_t main_worker{0};

/// Means "no vertex" in arrays of vertex ids; never a valid id of a graph of that width.
template <class Id>
inline constexpr Id no_vertex = std::numeric_limits<Id>::max();

/// For products of two words; no standard type is wide enough.
__extension__ using uint128_t = unsigned __int128;

/// Size of a cache line, the unit of false sharing.
inline constexpr std::size_t cache_line = 64;

/// A value on its own cache lines, so that neighbours in an array do not contend.
template <class T>
struct alignas(cache_line) padded {
  T value{};
};

}  // namespace cairn
