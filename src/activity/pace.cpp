// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/pace.hpp>

namespace cairn::activity {
namespace {

constexpr std::uint64_t unsampled_operators = 2048;  // between two samples

std::uint64_t aborts(const obs::counters& counted, worker_t k) noexcept {
  using obs::counter;
  std::uint64_t sum = 0;
  for (const auto c : {counter::aborts_conflict, counter::aborts_capacity, counter::aborts_explicit,
                       counter::aborts_other}) {
    sum += counted.of_worker(k, c);
  }
  return sum;
}

}  // namespace

pace::span::span(pace& p, const plan& from, mechanism chosen, span_kind kind, world& w, worker_t k)
    : pace_(p),
      world_(w),
      worker_(k),
      inner_(std::exchange(p.inside_, true)),
      by_{from.start_of(chosen), false} {
  if (p.ran_ < untuned_operators) return;
  auto* const t = p.made(from, chosen);
  if (inner_ || kind == span_kind::mixed) {
    if (t) by_.choice = t->best();
    return;
  }
  tuner_ = t;
  if (t) by_ = t->next();
  by_.measured |= from.may_change_mechanism() && p.unsampled_ >= unsampled_operators;
  if (!by_.measured) return;
  aborts_before_ = aborts(w.counters(), k);
  since_ = w.clock().now_ns();
}

pace::span::~span() {
  if (!inner_) pace_.inside_ = false;
}

span_work pace::span::end(std::uint64_t operators) noexcept {
  auto& p = pace_;
  p.ran_ += operators;
  if (inner_) return {};
  p.unsampled_ += operators;
  span_work all{.operators = operators};
  const bool measured = by_.measured && operators > 0;
  if (measured) {
    all.ns = world_.clock().now_ns() - since_;
    all.aborts = aborts(world_.counters(), worker_) - aborts_before_;
    p.unsampled_ = 0;
  }
  if (tuner_) {
    const auto trials = tuner_->trials(), changes = tuner_->changes();
    tuner_->done(all);
    if (tuner_->trials() != trials) [[unlikely]] {
      note_choice(world_.trace(), worker_, tuner_->changes() != changes ? "takes" : "rejects",
                  tuner_->last_tried(), tuner_->trials());
    }
  }
  return measured ? all : span_work{};
}

tuner* pace::made(const plan& from, mechanism chosen) {
  if (const auto* t = of(chosen)) return const_cast<tuner*>(t);
  const auto candidates = from.worker_candidates(chosen);
  if (candidates.empty()) return nullptr;
  return &tuners_.emplace_back(chosen, tuner(candidates)).second;
}

const tuner* pace::of(mechanism chosen) const noexcept {
  for (const auto& [mine, t] : tuners_) {
    if (mine == chosen) return &t;
  }
  return nullptr;
}

}  // namespace cairn::activity
