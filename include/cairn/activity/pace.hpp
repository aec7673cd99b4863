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
#include <cairn/obs/trace.hpp>

namespace cairn::activity {

/// One worker's tuners for one operator. There is one for each mechanism of the domain that leaves
/// a choice, created when an epoch first runs by that mechanism.
///
/// Thread-safety: its worker alone
class pace {
 public:
  /// One span of operators: how it runs, and its measurements. A nested span of the same operator
  /// (an answer that spawns) runs by the best known choice and is not measured.
  class span {
   public:
    /// chosen    the domain's mechanism
    /// sampled   the cost is also needed elsewhere: a span is measured whenever some thousand
    ///           operators have run since the last measured one. Measuring the first span of each
    ///           epoch instead would distort: measured spans wait for each other, and in a small
    ///           epoch they may disturb each other
    span(pace& p, const plan& from, mechanism chosen, bool sampled, const obs::counters& counted,
         obs::trace& trace, worker_t k);
    /// A span that did not reach end(), because of an exception, is not reported to the tuner.
    ~span();
    span(const span&) = delete;
    span& operator=(const span&) = delete;

    [[nodiscard]] const tuner::step& by() const noexcept { return by_; }
    /// Ends the span after so many operators, of which `timed` were timed. Returns the measurement:
    /// the time extrapolated to all operators, and the aborts.
    span_work end(std::uint64_t operators, const span_work& timed) noexcept;

   private:
    pace& pace_;
    const obs::counters& counted_;
    obs::trace& trace_;
    const worker_t worker_;
    const bool inner_;
    tuner* tuner_ = nullptr;
    tuner::step by_;
    std::uint64_t aborts_before_ = 0;
  };

  /// nullptr if no epoch has run by `chosen` yet, or if it leaves no choice.
  [[nodiscard]] const tuner* of(mechanism chosen) const noexcept;

 private:
  tuner* made(const plan& from, mechanism chosen);

  // A single-cell operator has one tuner, the first, for all mechanisms.
  std::vector<std::pair<mechanism, tuner>> tuners_;
  std::uint64_t ran_ = 0;        // operators
  std::uint64_t unsampled_ = 0;  // operators since the last sample
  bool inside_ = false;
};

}  // namespace cairn::activity
