// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::bench::baselines {

/// Breadth-first search on threads as one writes it by hand, the way of Graph500's code for
/// OpenMP: a level's vertices are dealt out in chunks; of each neighbour the parent is looked at
/// first and then claimed by compare-and-swap; found vertices gather in a small buffer of the
/// thread, for which room in the next level is taken by one addition. Uses nothing of Cairn.
///
/// offsets, targets   the rows, n + 1 offsets
/// Returns            parents; the root's is itself, that of unreached vertices all ones
[[nodiscard]] std::vector<std::uint32_t> bfs_threads(std::span<const std::uint64_t> offsets,
                                                     std::span<const std::uint32_t> targets,
                                                     std::uint32_t root, int threads);

}  // namespace cairn::bench::baselines
