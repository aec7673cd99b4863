// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/tm/retry_policy.hpp>

namespace cairn::tm {
namespace {

struct named {
  std::string_view name;
  retry_limits limits;
};
constexpr std::array<named, 3> policies{
    {{"rtm", retry_rtm}, {"hle", retry_hle}, {"bgq", retry_bgq}}};

}  // namespace

std::string_view name(const retry_limits& limits) noexcept {
  for (const auto& p : policies) {
    if (p.limits == limits) return p.name;
  }
  return "limits";
}

retry_limits parse_retry(std::string_view text) {
  for (const auto& p : policies) {
    if (p.name == text) return p.limits;
  }
  throw usage_error("the retry policy is '" + std::string(text) + "', expected rtm, hle or bgq");
}

retry_decision retry_policy::next(attempt_outcome aborted) noexcept {
  if (aborted.cause() == abort_cause::capacity && limits_.halve) {
    return {operators_ < 2 ? retry_step::fall_back : retry_step::split};
  }
  if (retries_ == limits_.retries) return {retry_step::fall_back};
  ++retries_;
  switch (aborted.cause()) {
    case abort_cause::conflict: {
      if (conflicts_ == limits_.conflicts) break;
      const auto doubled = std::uint64_t{limits_.first_pauses} << std::min(conflicts_, 31u);
      const auto window = std::min<std::uint64_t>(doubled, limits_.max_pauses);
      ++conflicts_;
      return {retry_step::retry, static_cast<std::uint32_t>(random_.below(window + 1))};
    }
    case abort_cause::capacity:
      if (capacities_ == limits_.capacities) break;
      ++capacities_;
      return {retry_step::retry};
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
