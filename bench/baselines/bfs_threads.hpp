// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::bench::baselines {

/// Hand-written breadth-first search on threads, similar to Graph500's OpenMP code. Threads take
/// chunks of a level's vertices. A neighbor's parent is read first and then claimed by
/// compare-and-swap. Found vertices are collected in a small buffer per thread, which is copied to
/// the next level with one atomic addition. Uses nothing of Cairn.
///
/// offsets, targets   the rows, n + 1 offsets
/// Returns            parents; the root is its own parent, unreached vertices have all ones
[[nodiscard]] std::vector<std::uint32_t> bfs_threads(std::span<const std::uint64_t> offsets,
                                                     std::span<const std::uint32_t> targets,
                                                     std::uint32_t root, int threads);

}  // namespace cairn::bench::baselines
