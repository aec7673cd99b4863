// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::pgas {

/// One value to which all workers of all ranks add without ever meeting: a sum, a maximum and
/// where it is, a histogram, a set.
///
///   pgas::accumulator<merge_histograms<std::string>> words(world);
///   words.accumulate(worker, "cairn");     // one element: inserted in place
///   words.accumulate(worker, of_a_page);   // or a whole histogram
///   const auto all = words.collect();      // the same on every rank
///
/// Each worker keeps a partial of its own. For a value per vertex there is accumulator_map.
///
/// A           its values are packable
/// Work        one combination per add, or one include(); one combination per worker and rank
///             when collected
/// Messages    none until collected: then one collective, every rank's partial on every rank
/// Memory      a partial per worker; while collected all ranks' partials as bytes
/// Collective  collect(); the world outlives the accumulator
/// Thread-safety  each worker accumulates as itself: in a chunk, a handler, or the body as 0
/// Source      [AGGRO] aggregation without conflicts
template <aggregator A>
class accumulator {
 public:
  using value_type = typename A::value_type;
  static_assert(packable<value_type>, "values travel as their bytes: specialise cairn::packing");

  explicit accumulator(world& w) : world_(w), partials_(w.workers()) {
    for (auto& k : partials_) k.value = A::identity();
  }
  accumulator(const accumulator&) = delete;
  accumulator& operator=(const accumulator&) = delete;

  /// Combines x into what worker k keeps.
  void accumulate(worker_t k, const value_type& x) { combine_into<A>(partials_[k], x); }
  void accumulate(worker_t k, value_type&& x) { combine_into<A>(partials_[k], std::move(x)); }
  /// Includes one element: a member of a set, a key and its count, an index and what is added
  /// there.
  template <class... Element>
  requires includes<A, Element...>
  void accumulate(worker_t k, const Element&... x) { A::include(partials_[k], x...); }

  /// What was accumulated since the last collect(), by all workers of all ranks: the workers'
  /// partials in their order, then the ranks' in theirs. Starts again from the identity.
  ///
  /// Returns   the same on every rank; of doubles and floats it depends on which worker added what
  /// Throws    contract_violation while an epoch is open: handlers may be accumulating
  [[nodiscard]] value_type collect() {
    CAIRN_EXPECTS(!world_.messages().epoch_open(), "collected after the epoch");
    value_type mine = A::identity();
    for (auto& k : partials_) {
      combine_into<A>(mine, std::exchange(k.value, A::identity()));
    }
    return world_.reduce<A>(mine);
  }

 private:
  world& world_;
  task::per_worker<value_type> partials_;
};

}  // namespace cairn::pgas
