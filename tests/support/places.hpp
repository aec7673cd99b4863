// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include <support/on_ranks.hpp>

namespace cairn::support {

/// The environment in which a body runs: threads over rings, threads over a chaotic transport, or a
/// simulated cluster. Tests use many simulated clusters, because threads of 8 ranks on 2 cores
/// mostly wait.
struct place {
  enum class network { rings, chaos, simulated };
  network kind;
  rank_t ranks;
  int workers;
  std::uint64_t seed = 1;
  progress_style progress = progress_style::poll;

  void run(const std::function<void(world&)>& body, world_options options = {}) const {
    options.progress = progress;
    if (options.specialised.helpers == 1) options.specialised.helpers = workers;
    switch (kind) {
      case network::rings:
        return on_ranks(ranks, workers, body, options);
      case network::chaos:
        return on_chaotic_ranks(ranks, workers, seed, body, options);
      case network::simulated:
        on_simulated_ranks(ranks, workers, seed, body, options);
    }
  }
  /// The same place with another seed (unused by rings).
  [[nodiscard]] place with_seed(std::uint64_t other) const {
    return {kind, ranks, workers, other, progress};
  }
  [[nodiscard]] bool simulated() const noexcept { return kind == network::simulated; }

  [[nodiscard]] std::string name() const {
    const std::string names[] = {"rings", "chaos", "simulated"};
    const std::string styles[] = {"_auto", "", "_thread", "_specialised"};
    return names[static_cast<int>(kind)] + "_" + std::to_string(ranks) + "x" +
           std::to_string(workers) + styles[static_cast<int>(progress)];
  }
  friend std::ostream& operator<<(std::ostream& out, const place& p) { return out << p.name(); }
};

/// Ranks {1, 2, 3, 8} x workers {1, 2} over one network.
inline std::vector<place> places(place::network kind) {
  std::vector<place> all;
  for (const rank_t ranks : {1, 2, 3, 8}) {
    // A chaotic network has a slow rank if its seed is 3 mod 4 (chaos_transport.hpp).
    const std::uint64_t seed = ranks == 3 ? 3 : 1;
    for (const int workers : {1, 2}) all.push_back({kind, ranks, workers, seed});
  }
  return all;
}
inline std::vector<place> ring_places() { return places(place::network::rings); }
inline std::vector<place> simulated_places() { return places(place::network::simulated); }
inline std::vector<place> all_places() {
  auto all = ring_places();
  for (const auto how : {place::network::chaos, place::network::simulated}) {
    for (const auto& p : places(how)) {
      // 16 threads that wait for delayed packets take as long as all other places together.
      if (how == place::network::chaos && p.ranks * p.workers > 8) continue;
      all.push_back(p);
    }
  }
  return all;
}

/// Places with threads beside the workers.
inline std::vector<place> served_places() {
  using enum place::network;
  std::vector<place> all;
  for (const auto style :
       {progress_style::thread, progress_style::automatic, progress_style::specialised}) {
    for (auto served :
         {place{rings, 2, 1}, place{rings, 3, 2}, place{chaos, 2, 2}, place{chaos, 3, 1},
          place{simulated, 2, 1}, place{simulated, 3, 2}, place{simulated, 8, 1}}) {
      served.progress = style;
      all.push_back(served);
    }
  }
  return all;
}

struct varied_clusters {
  std::uint64_t num_seeds = 0;       ///< seeds from 1 on
  bool small_buffers = true;         ///< whether half of the clusters have them
  bool emulate_transactions = true;  ///< whether half of the clusters do
};

/// Runs body(w, seed, random) on one simulated cluster per seed. The seed determines the number of
/// ranks and workers, the options, and what body draws.
inline void on_many_clusters(
    const varied_clusters& clusters,
    const std::function<void(world&, std::uint64_t seed, random64& random)>& body) {
  for (std::uint64_t seed = 1; seed <= clusters.num_seeds; ++seed) {
    auto shape = random64(seed).stream(9);
    const auto ranks = static_cast<rank_t>(1 + shape.below(9));
    const auto workers = static_cast<int>(1 + shape.below(3));
    world_options options{.emulation_seed = seed};
    if (clusters.small_buffers && shape.below(2) == 0)
      options.coalesce_bytes = 16 + shape.below(100);
    options.emulate_transactions = clusters.emulate_transactions && shape.below(2) == 0;
    SCOPED_TRACE("seed " + std::to_string(seed));
    on_simulated_ranks(
        ranks, workers, seed,
        [&](world& w) {
          random64 random(seed);
          body(w, seed, random);
        },
        options);
  }
}

/// Names the instances of a test by their place.
inline std::string place_name(const ::testing::TestParamInfo<place>& of) { return of.param.name(); }

}  // namespace cairn::support
