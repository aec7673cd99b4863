// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>

namespace cairn::am {

/// The asker's own number for a question, below 2^48.
struct slot {
  std::uint64_t number;
  constexpr explicit slot(std::uint64_t n) noexcept : number(n) {}
};

/// Names the worker that asked and the number of its question. It travels with the question and
/// comes back with the answer.
class ticket {
 public:
  ticket() = default;
  ticket(worker_t k, am::slot s) noexcept
      : low_(static_cast<std::uint32_t>(s.number)),
        high_(static_cast<std::uint32_t>(s.number >> 32) | static_cast<std::uint32_t>(k) << 16) {
    CAIRN_ASSERT(s.number >> 48 == 0);
  }
  [[nodiscard]] worker_t worker() const noexcept { return static_cast<worker_t>(high_ >> 16); }
  [[nodiscard]] std::uint64_t number() const noexcept {
    return low_ | static_cast<std::uint64_t>(high_ & 0xffff) << 32;
  }

 private:
  std::uint32_t low_, high_;  // two words, so that small messages need no padding
};
static_assert(sizeof(ticket) == 8);

}  // namespace cairn::am
