// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/am/parallel_for.hpp>

namespace cairn::am::detail {

loop_ranks ranks_of_loop(const world& w, std::uint64_t n, locality where) {
  loop_ranks over;
  if (where == locality::local || w.size() == 1) {
    over.ranks.push_back(w.rank());
  } else {
    for (rank_t r = 0; r < w.size(); ++r) {
      if (where == locality::partition || r != w.rank()) over.ranks.push_back(r);
    }
  }
  over.share = (n - 1) / over.ranks.size() + 1;
  return over;
}

// Each task gets some four chunks, so that the last ones end at about the same time.
std::uint64_t chunk_of_loop(std::uint64_t share, std::uint64_t takers) {
  return std::clamp<std::uint64_t>(share / (4 * takers), 1, 1024);
}

}  // namespace cairn::am::detail
