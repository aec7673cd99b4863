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

/// One value to which all workers of all ranks contribute without synchronisation: a sum, a maximum
/// and its index, a histogram, a set.
///
///   pgas::accumulator<merge_histograms<std::string>> words(world);
///   words.accumulate(worker, "cairn");     // one element: inserted in place
///   words.accumulate(worker, of_a_page);   // or a whole histogram
///   const auto all = words.collect();      // the same on every rank
///
/// Each worker keeps a partial. For one value per vertex see accumulator_map.
///
/// A              an aggregator with packable values
/// Work           one combination or include() per call; one combination per worker and rank in
///                collect()
/// Messages       none before collect(), which is one collective: every rank receives the partials
///                of all ranks
/// Memory         a partial per thread that runs handlers; in collect() also the packed partials
///                of all ranks
/// Collective     collect(); the world outlives the accumulator
/// Thread-safety  worker k calls accumulate(k, ...): in a chunk, in a handler, or in the body with
///                k = 0
/// Source         [AGGRO] aggregation without conflicts
template <aggregator A>
class accumulator {
 public:
  using value_type = typename A::value_type;
  static_assert(packable<value_type>, "values travel as their bytes: specialise cairn::packing");

  explicit accumulator(world& w) : world_(w), partials_(w.handling_threads()) {
    for (auto& k : partials_) k.value = A::identity();
  }
  accumulator(const accumulator&) = delete;
  accumulator& operator=(const accumulator&) = delete;

  /// Combines x into worker k's partial.
  void accumulate(worker_t k, const value_type& x) { combine_into<A>(partials_[k], x); }
  void accumulate(worker_t k, value_type&& x) { combine_into<A>(partials_[k], std::move(x)); }
  /// Includes one element: a member of a set, a key and its count, or an index and the value to add
  /// there.
  template <class... Element>
  requires includes<A, Element...>
  void accumulate(worker_t k, const Element&... x) { A::include(partials_[k], x...); }

  /// Combines the contributions of all workers of all ranks since the last collect(), and resets
  /// them to the identity. Order: the workers' partials by worker, then the ranks' by rank.
  ///
  /// Returns   the same on every rank; for float and double it depends on which worker added what
  /// Throws    contract_violation while an epoch is open, because handlers may be accumulating
  [[nodiscard]] value_type collect() {
    CAIRN_EXPECTS(!world_.messages().epoch_open(),
                  "collect() must not be called while an epoch is open");
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
