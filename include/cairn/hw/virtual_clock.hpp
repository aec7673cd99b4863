// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <cairn/hw/clock.hpp>

namespace cairn::hw {

/// The time of a simulated cluster; it changes only by the calls below.
///
/// If each worker has its own time, the clock shows the time of the running worker.
///
/// Thread-safety: none; one thread runs a simulated cluster.
class virtual_clock final : public clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept override { return now_ns_; }

  void advance(std::uint64_t ns) noexcept { now_ns_ += ns; }
  /// Has no effect if that time has passed.
  void advance_to(std::uint64_t time_ns) noexcept { now_ns_ = std::max(now_ns_, time_ns); }
  /// Shows the time of the worker that runs next, which may be earlier.
  void set(std::uint64_t time_ns) noexcept { now_ns_ = time_ns; }

 private:
  std::uint64_t now_ns_ = 0;
};

}  // namespace cairn::hw
