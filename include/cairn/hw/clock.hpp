// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::hw {

/// Time as the runtime sees it: real, or that of a simulated cluster.
class clock {
 public:
  virtual ~clock() = default;
  /// Nanoseconds since some fixed moment; never goes backwards.
  [[nodiscard]] virtual std::uint64_t now_ns() const noexcept = 0;
};

/// The machine's monotonic clock. One object may serve everybody: it has no state.
class steady_clock final : public clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept override;
};

}  // namespace cairn::hw
