// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::hw {

/// The time that the runtime uses: real, or that of a simulated cluster.
class clock {
 public:
  virtual ~clock() = default;
  /// Nanoseconds since some fixed time; never decreases.
  [[nodiscard]] virtual std::uint64_t now_ns() const noexcept = 0;
};

/// The machine's monotonic clock. Stateless, so one object may serve all users.
class steady_clock final : public clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept override;
};

}  // namespace cairn::hw
