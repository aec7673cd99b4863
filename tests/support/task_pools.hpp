// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/task/fibers.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::support {

/// A pool of one rank: threads, or fibers with a seed.
struct pool_place {
  enum class kind { threads, fibers };
  kind pool_kind;
  int workers;

  void run(const std::function<void(task::pool&)>& body, std::uint64_t seed = 17) const {
    if (pool_kind == kind::threads) {
      const auto p = task::make_threads({.workers = workers});
      return body(*p);
    }
    random64 random(seed);
    hw::virtual_clock clock;
    task::fiber_scheduler scheduler(random, clock);
    const auto p = scheduler.make_pool(workers);
    scheduler.start(*p, [&] { body(*p); });
    scheduler.run();
  }
  /// Fibers repeat the body with several seeds.
  void run_seeds(const std::function<void(task::pool&)>& body, std::uint64_t seeds = 20) const {
    const auto n = pool_kind == kind::threads ? 2 : seeds;
    for (std::uint64_t seed = 1; seed <= n; ++seed) run(body, seed);
  }

  [[nodiscard]] std::string name() const {
    return (pool_kind == kind::threads ? "threads_" : "fibers_") + std::to_string(workers);
  }
  friend std::ostream& operator<<(std::ostream& out, const pool_place& p) {
    return out << p.name();
  }
};

inline std::vector<pool_place> pool_places() {
  std::vector<pool_place> all;
  for (const auto pool_kind : {pool_place::kind::threads, pool_place::kind::fibers}) {
    for (const int workers : {1, 2, 4}) all.push_back({pool_kind, workers});
  }
  return all;
}

inline std::string pool_place_name(const ::testing::TestParamInfo<pool_place>& of) {
  return of.param.name();
}

}  // namespace cairn::support
