// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/pace.hpp>

namespace cairn::activity {
namespace {

constexpr std::uint64_t unsampled_operators = 2048;  // between two samples

}  // namespace

tuner::step pace::begin(const choice& otherwise, bool sampled) noexcept {
  operators_run = 0;
  measured = {};
  running_ = const_cast<tuner*>(of(otherwise.how));
  auto by = running_ != nullptr ? running_->next() : tuner::step{otherwise, false};
  by.measured |= sampled && unsampled_ >= unsampled_operators;
  measures_ = by.measured;
  return by;
}

void pace::end(const obs::counters& counted, worker_t k) noexcept {
  unsampled_ += operators_run;
  if (measures_) {
    if (const auto timed = std::exchange(measured.operators, operators_run); timed > 0) {
      measured.ns = measured.ns * operators_run / timed;
      unsampled_ = 0;
    }
    measured.aborts = aborts(counted, k) - aborts_before_;
  }
  if (running_ == nullptr) return;
  running_->done(measures_ ? measured : span_work{.operators = operators_run});
}

const tuner* pace::of(mechanism how) const noexcept {
  for (const auto& [mine, t] : tuners_) {
    if (mine == how || mine == mechanism::automatic) return &t;
  }
  return nullptr;
}

std::uint64_t pace::aborts(const obs::counters& counted, worker_t k) noexcept {
  using obs::counter;
  std::uint64_t sum = 0;
  for (const auto c : {counter::aborts_conflict, counter::aborts_capacity, counter::aborts_explicit,
                       counter::aborts_other}) {
    sum += counted.of_worker(k, c);
  }
  return sum;
}

}  // namespace cairn::activity
