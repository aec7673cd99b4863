// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn::support {

/// Every rank writes to the shared memory of its machine and checks that it contains exactly the
/// writes of the ranks of that machine. Returns the fault, or "".
inline std::string share_and_look(world& w) {
  auto& here = w.machines();
  const auto neighbors = here.neighbors();
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto memory = here.share(8 * static_cast<std::size_t>(w.size()));
    if (memory->size() != 8 * static_cast<std::size_t>(w.size())) return "another size";
    auto* const words = reinterpret_cast<std::uint64_t*>(memory->data());
    const auto word_of = [&](rank_t r) { return round * 1000 + static_cast<std::uint64_t>(r); };
    if (words[w.rank()] != 0) return "the memory was not zeroed";
    words[w.rank()] = word_of(w.rank());
    w.barrier();
    for (rank_t r = 0; r < w.size(); ++r) {
      const auto wanted = here.of(r) == here.of(w.rank()) ? word_of(r) : 0;
      if (words[r] != wanted) return "word " + std::to_string(r) + " is another";
    }
    w.barrier();
  }
  std::vector<rank_t> same;
  for (rank_t r = 0; r < w.size(); ++r) {
    if (here.of(r) == here.of(w.rank())) same.push_back(r);
  }
  if (!std::equal(same.begin(), same.end(), neighbors.begin(), neighbors.end())) {
    return "the neighbors are others";
  }
  return {};
}

}  // namespace cairn::support
