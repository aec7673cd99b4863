// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/am/parallel_for.hpp>

namespace cairn::am::detail {

namespace {

// A call costs its sender about a microsecond, and as much for its answer; one more level of a tree
// costs four latencies.
constexpr rank_t calls_of_a_rank = 16;

// Each task gets some four chunks, so that the last ones end at about the same time.
std::uint64_t chunk_of_loop(std::uint64_t share, std::uint64_t takers) {
  return std::clamp<std::uint64_t>(share / (4 * takers), 1, 1024);
}

}  // namespace

loop_plan plan_of_loop(std::uint64_t n, const loop_options& opt, rank_t origin, rank_t size,
                       int workers) {
  loop_plan plan{.n = n, .origin = origin, .where = opt.where};
  if (size == 1) plan.where = locality::local;
  const auto available = plan.where == locality::local    ? 1
                         : plan.where == locality::remote ? size - 1
                                                          : size;
  plan.share = (n - 1) / static_cast<std::uint64_t>(available) + 1;
  plan.ranks = static_cast<rank_t>((n - 1) / plan.share + 1);
  if (plan.where == locality::partition && plan.origin < plan.ranks) plan.base = plan.origin;
  // Numbers above a rank's share have the same meaning, and their sums and products would overflow.
  plan.tasks = std::min<std::uint64_t>(opt.tasks, plan.share);
  const auto takers = plan.tasks * static_cast<std::uint64_t>(workers);
  plan.chunk = opt.chunk != 0 ? std::min(opt.chunk, plan.share) : chunk_of_loop(plan.share, takers);
  return plan;
}

rank_t loop_plan::rank_at(rank_t i) const noexcept {
  if (where == locality::local) return origin;
  const auto block = (base + i) % ranks;
  return where == locality::remote && block >= origin ? block + 1 : block;
}

loop_part loop_plan::part_at(rank_t i) const noexcept {
  const auto first = static_cast<std::uint64_t>((base + i) % ranks) * share;
  return {first, first + std::min(share, n - first), chunk, tasks};
}

std::vector<loop_ranks> branches_of(loop_ranks over) {
  const auto size = over.last - over.first;
  const auto count = std::min(size, calls_of_a_rank);
  std::vector<loop_ranks> branches;
  for (rank_t i = 0; i < count; ++i) {
    branches.push_back({over.first + size * i / count, over.first + size * (i + 1) / count});
  }
  return branches;
}

}  // namespace cairn::am::detail
