// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/activity/tuner.hpp>
#include <cairn/base/types.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::activity {

/// One worker's tuners for an operator, and what its lanes have to say to them. A lane adds to
/// `operators_run` and `measured`; what stands around a lane calls begin() and end().
///
/// Thread-safety: its worker alone
class pace {
 public:
  std::uint64_t operators_run = 0;  ///< by the lane
  span_work measured;               ///< of them, if the lane was measured

  /// One more tuner, for lanes by mechanism `of`; automatic: for all, and it chooses that too.
  void add(mechanism of, std::span<const candidate> ways) { tuners_.emplace_back(of, tuner(ways)); }

  /// How the next lane runs: by the tuner of this mechanism (automatic: of all), else like this.
  ///
  /// sampled   somebody else wants to know what operators cost: a lane is measured whenever some
  ///           thousand have run since the last one was. Not the first of an epoch: the measured
  ///           ones wait for each other, and those of a small epoch may be in each other's way
  [[nodiscard]] tuner::step begin(const choice& otherwise, bool sampled) noexcept;
  /// The lane has ended. Its aborts are what the worker counted meanwhile.
  void end(const obs::counters& counted, worker_t k) noexcept;
  /// To be called before a measured lane.
  void count_from(const obs::counters& counted, worker_t k) noexcept {
    aborts_before_ = aborts(counted, k);
  }

  [[nodiscard]] const tuner* of(mechanism how) const noexcept;

 private:
  static std::uint64_t aborts(const obs::counters& counted, worker_t k) noexcept;

  std::vector<std::pair<mechanism, tuner>> tuners_;
  tuner* running_ = nullptr;
  bool measures_ = false;
  std::uint64_t unsampled_ = 0;  // operators since the last sample
  std::uint64_t aborts_before_ = 0;
};

}  // namespace cairn::activity
