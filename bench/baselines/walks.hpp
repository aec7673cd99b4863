// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

namespace cairn::bench::baselines {

/// Where a vertex's targets are.
struct row {
  std::uint64_t first;
  std::uint64_t degree;
};

[[nodiscard]] inline std::uint64_t walk_choice(std::uint64_t walk, std::uint64_t step,
                                               std::uint64_t degree) {
  return static_cast<std::uint64_t>(
      static_cast<uint128_t>(mix64(walk * 0x9e3779b97f4a7c15u + step)) * degree >> 64);
}
[[nodiscard]] inline std::uint64_t walk_start(std::uint64_t walk, std::uint64_t n) {
  return static_cast<std::uint64_t>(static_cast<uint128_t>(mix64(mix64(100) + walk)) * n >> 64);
}

/// Walks over a graph of n vertices, one at a time. Returns a checksum of where they end.
[[nodiscard]] inline std::uint64_t walk_alone(const row* rows, const std::uint32_t* targets,
                                              std::uint64_t n, std::uint64_t walks,
                                              std::uint64_t length) {
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < walks; ++k) {
    auto v = walk_start(k, n);
    for (std::uint64_t s = 0; s < length; ++s) {
      const auto r = rows[v];
      v = targets[r.first + walk_choice(k, s, r.degree)];
    }
    sum += mix64(v);
  }
  return sum;
}

/// The same walks, `in_flight` at a time. Each of these is at one of two fetches: of its row, or of
/// its next vertex.
[[nodiscard]] inline std::uint64_t walk_interleaved(const row* rows, const std::uint32_t* targets,
                                                    std::uint64_t n, std::uint64_t walks,
                                                    std::uint64_t length, std::size_t in_flight) {
  struct walk {
    std::uint64_t k, s, v;
    const std::uint32_t* target;
  };
  std::vector<walk> all(in_flight);
  std::uint64_t next = 0, sum = 0;
  const auto begin = [&](walk& x) {
    x = {next, 0, walk_start(next, n), nullptr};
    ++next;
    __builtin_prefetch(&rows[x.v]);
  };
  std::size_t used = 0;
  for (; used < in_flight && next < walks; ++used) begin(all[used]);
  while (used > 0) {
    for (std::size_t i = 0; i < used;) {
      auto& x = all[i];
      if (x.target == nullptr) {
        const auto& r = rows[x.v];
        x.target = &targets[r.first + walk_choice(x.k, x.s, r.degree)];
        __builtin_prefetch(x.target);
        ++i;
        continue;
      }
      x.v = *x.target;
      x.target = nullptr;
      if (++x.s < length) {
        __builtin_prefetch(&rows[x.v]);
        ++i;
        continue;
      }
      sum += mix64(x.v);
      if (next < walks) {
        begin(x);
        ++i;
      } else {
        x = all[--used];
      }
    }
  }
  return sum;
}

}  // namespace cairn::bench::baselines
