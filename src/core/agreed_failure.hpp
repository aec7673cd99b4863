// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/base/error.hpp>

namespace cairn {

/// A system_failure of one rank, which world::agree throws on all of them.
class agreed_failure : public system_failure {
 public:
  agreed_failure(rank_t rank, const std::string& text) : system_failure(text), rank_(rank) {}
  /// The rank that failed.
  [[nodiscard]] rank_t rank() const noexcept { return rank_; }

 private:
  rank_t rank_;
};

}  // namespace cairn
