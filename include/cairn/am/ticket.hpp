// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>

namespace cairn::am {

/// Names the worker that asked and the number of its question. It travels with the question and
/// comes back with the answer.
class ticket {
 public:
  ticket() = default;
  /// slot   the asker's own number for the question, below 2^48
  ticket(worker_t w, std::uint64_t slot) noexcept
      : low_(static_cast<std::uint32_t>(slot)),
        high_(static_cast<std::uint32_t>(slot >> 32) | static_cast<std::uint32_t>(w) << 16) {
    CAIRN_ASSERT(slot >> 48 == 0);
  }
  [[nodiscard]] worker_t worker() const noexcept { return static_cast<worker_t>(high_ >> 16); }
  [[nodiscard]] std::uint64_t slot() const noexcept {
    return low_ | static_cast<std::uint64_t>(high_ & 0xffff) << 32;
  }

 private:
  std::uint32_t low_, high_;  // two words, so that small messages need no padding
};
static_assert(sizeof(ticket) == 8);

}  // namespace cairn::am
