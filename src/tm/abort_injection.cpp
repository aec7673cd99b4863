// SPDX-License-Identifier: Apache-2.0
#include <cairn/base/contract.hpp>
#include <cairn/tm/abort_injection.hpp>

namespace cairn::tm {

abort_injection::abort_injection(std::uint64_t seed, const abort_rates& rates,
                                 std::vector<injected_abort> script)
    : random_(seed),
      rates_{rate{rates.conflict, attempt_outcome::abort(abort_cause::conflict)},
             rate{rates.capacity, attempt_outcome::abort(abort_cause::capacity)},
             rate{rates.lock_taken,
                  attempt_outcome::abort(abort_cause::explicit_, abort_code::lock_taken)},
             rate{rates.left, attempt_outcome::abort(abort_cause::explicit_, abort_code::left)},
             rate{rates.other, attempt_outcome::abort(abort_cause::other)}},
      at_commit_(rates.at_commit),
      script_(std::move(script)) {
  double sum = 0;
  for (auto& r : rates_) {
    CAIRN_EXPECTS(r.below >= 0, "abort rates must not be negative");
    sum += r.below;
    r.below = sum;
  }
  CAIRN_EXPECTS(sum <= 1, "abort rates must sum to at most 1");
}

std::optional<injected_abort> abort_injection::next() noexcept {
  const auto attempt = attempts_++;
  if (attempt < script_.size()) {
    const auto& scripted = script_[attempt];
    if (scripted.outcome.committed()) return std::nullopt;
    return scripted;
  }
  const double draw = random_.uniform();
  const bool at_commit = random_.uniform() < at_commit_;
  for (const auto& r : rates_) {
    if (draw < r.below) return injected_abort{r.outcome, at_commit};
  }
  return std::nullopt;
}

}  // namespace cairn::tm
