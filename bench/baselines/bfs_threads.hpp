// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace cairn::bench::baselines {

/// Hand-written breadth-first search on threads, similar to Graph500's OpenMP code. Threads take
/// chunks of a level's vertices. A neighbor's parent is read first and then claimed by
/// compare-and-swap. Found vertices are collected in a small buffer per thread, which is copied to
/// the next level with one atomic addition. The threads and the memory are kept for all searches.
/// Uses nothing of Cairn.
class bfs_threads {
 public:
  /// offsets, targets   the rows, n + 1 offsets; outlive the object
  bfs_threads(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> targets,
              int threads);
  ~bfs_threads();

  /// Parents, valid until the next search; the root is its own parent, unreached vertices have all
  /// ones.
  [[nodiscard]] std::span<const std::uint32_t> search(std::uint32_t root);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace cairn::bench::baselines
