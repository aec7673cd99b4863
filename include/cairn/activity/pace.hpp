// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/activity/plan.hpp>
#include <cairn/activity/tuner.hpp>
#include <cairn/base/types.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::activity {

/// One worker's tuners for one operator: one for each mechanism of the domain that leaves a choice,
/// made when an epoch first runs by it.
///
/// Thread-safety: its worker alone
class pace {
 public:
  /// One span of operators: how it runs, and what it took. A span inside another one of the same
  /// operator (an answer that spawns) runs by what is best and is not measured.
  class span {
   public:
    /// how       the domain's mechanism
    /// sampled   somebody else wants to know what operators cost: a span is measured whenever some
    ///           thousand have run since the last one was. Not the first of an epoch: the measured
    ///           ones wait for each other, and those of a small epoch may be in each other's way
    span(pace& p, const plan& from, mechanism how, bool sampled, const obs::counters& counted,
         worker_t k);
    /// Tells the tuner what the span ran, if it came to its end.
    ~span();
    span(const span&) = delete;
    span& operator=(const span&) = delete;

    [[nodiscard]] const tuner::step& by() const noexcept { return by_; }
    /// The span ended after so many operators, of which `timed` were timed. Returns what was
    /// measured: the time of all by that of the timed ones, and the aborts.
    span_work end(std::uint64_t operators, const span_work& timed) noexcept;

   private:
    pace& pace_;
    const obs::counters& counted_;
    const worker_t worker_;
    const bool inner_;
    tuner* told_ = nullptr;
    tuner::step by_;
    std::uint64_t aborts_before_ = 0;
  };

  /// nullptr: no epoch has run by it yet, or it leaves no choice.
  [[nodiscard]] const tuner* of(mechanism how) const noexcept;

 private:
  tuner* made(const plan& from, mechanism how);

  // Of single-cell operators the first serves all.
  std::vector<std::pair<mechanism, tuner>> tuners_;
  std::uint64_t ran_ = 0;        // operators
  std::uint64_t unsampled_ = 0;  // operators since the last sample
  bool inside_ = false;
};

}  // namespace cairn::activity
