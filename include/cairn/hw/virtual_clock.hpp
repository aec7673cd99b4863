// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <cairn/hw/clock.hpp>

namespace cairn::hw {

/// The time of a simulated cluster: stands still until somebody moves it on.
///
/// Where each worker has a time of its own, it shows that of the one that runs.
///
/// Thread-safety: none; one thread runs a simulated cluster.
class virtual_clock final : public clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept override { return now_ns_; }

  void advance(std::uint64_t ns) noexcept { now_ns_ += ns; }
  /// Does nothing if that moment has passed.
  void advance_to(std::uint64_t moment_ns) noexcept { now_ns_ = std::max(now_ns_, moment_ns); }
  /// The time of another worker, who goes on now; it may be an earlier one.
  void show(std::uint64_t moment_ns) noexcept { now_ns_ = moment_ns; }

 private:
  std::uint64_t now_ns_ = 0;
};

}  // namespace cairn::hw
