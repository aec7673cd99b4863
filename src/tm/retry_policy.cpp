// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/tm/retry_policy.hpp>

namespace cairn::tm {

decision retry_policy::next(attempt_outcome aborted) noexcept {
  switch (aborted.cause()) {
    case abort_cause::conflict: {
      if (conflicts_ == limits_.conflicts) break;
      const auto doubled = std::uint64_t{limits_.first_pauses} << std::min(conflicts_, 31u);
      const auto window = std::min<std::uint64_t>(doubled, limits_.most_pauses);
      ++conflicts_;
      return {retry_step::retry, static_cast<std::uint32_t>(random_.below(window + 1))};
    }
    case abort_cause::capacity:
      if (operators_ < 2) break;
      return {retry_step::split};
    case abort_cause::explicit_:
      if (aborted.code() != abort_code::lock_taken) break;
      if (lock_waits_ == limits_.lock_waits) break;
      ++lock_waits_;
      return {retry_step::wait_then_retry};
    case abort_cause::other:
      if (others_ == limits_.others) break;
      ++others_;
      return {retry_step::pretouch_then_retry};
  }
  return {retry_step::fall_back};
}

}  // namespace cairn::tm
