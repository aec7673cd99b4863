// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/activity/plan.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {
namespace {

std::size_t grain_of(mechanism chosen, const options& requested) noexcept {
  if (chosen != mechanism::htm && chosen != mechanism::stm) return 1;
  const auto& start = requested.start;
  const auto first = chosen == mechanism::htm ? start.htm_grain : start.stm_grain;
  return std::clamp<std::size_t>(requested.grain ? requested.grain : first, 1, max_grain);
}

struct reasoned {
  activity::mechanism mechanism;
  std::string why;
};

void refuse_what_cannot_run(cells changed, mechanism chosen, const environment& here) {
  if (chosen == mechanism::plain && !here.one_worker && !here.one_writer) {
    throw usage_error("mechanism plain needs one writer per element: use --threads 1" +
                      std::string(changed == cells::one
                                      ? ", or --deliver owner if no operator is answered"
                                      : ""));
  }
  if (changed == cells::one && chosen == mechanism::stm) {
    throw usage_error(
        "mechanism stm is for operators that change several elements: use atomics or htm");
  }
  if (changed == cells::several && chosen == mechanism::atomics) {
    throw usage_error(
        "mechanism atomics cannot change several elements at once: use htm, stm or locks");
  }
}

// Chooses hardware transactions, or their replacement where there are none.
reasoned decide_hardware(cells changed, const options& requested, const environment& here) {
  const bool free = requested.mechanism == mechanism::automatic;
  const auto& start = requested.start;
  if (here.emulated || here.hardware) {
    const bool to_be_tested = here.emulated && !start.fitted;
    const bool htm = changed == cells::several || !free || start.htm_first || to_be_tested;
    const auto chosen = htm ? mechanism::htm : mechanism::atomics;
    if (here.emulated) return {chosen, "hardware transactions are emulated"};
    if (!free) return {chosen, "it was requested"};
    const std::string why = "hardware transactions work here";
    if (changed == cells::several) return {chosen, why};
    if (!start.fitted && !htm) return {chosen, why + ", but atomics rarely cost more"};
    return {chosen, why + ", and by the fitted costs " + (htm ? "they pay" : "atomics cost less")};
  }
  const auto why = "no hardware transactions: " + here.why_no_hardware;
  if (changed == cells::one) return {mechanism::atomics, why};
  if (!start.fitted) return {mechanism::locks, why};
  return {start.stm_first ? mechanism::stm : mechanism::locks,
          why + "; it costs less by the fitted costs"};
}

}  // namespace

decision decide(cells changed, const options& requested, const environment& here) {
  refuse_what_cannot_run(changed, requested.mechanism, here);
  reasoned chosen{requested.mechanism, "it was requested"};
  if (requested.mechanism == mechanism::automatic && here.one_worker) {
    chosen = {mechanism::plain,
              here.others_rest ? "one worker alone is faster here" : "the rank has one worker"};
  } else if (requested.mechanism == mechanism::automatic && here.one_writer) {
    chosen = {mechanism::plain, "messages go to the worker that owns the element"};
  } else if (requested.mechanism == mechanism::automatic || requested.mechanism == mechanism::htm) {
    chosen = decide_hardware(changed, requested, here);
  }
  return {chosen.mechanism, grain_of(chosen.mechanism, requested), std::move(chosen.why)};
}

plan::plan(cells changed, const options& requested, const environment& here, int workers)
    : cells_(changed),
      requested_(requested),
      has_hardware_(here.emulated || here.hardware),
      workers_(workers),
      first_(decide(changed, requested, here)) {
  if (changed == cells::several && first_.mechanism != requested.mechanism &&
      first_.mechanism != mechanism::plain) {
    epoch_candidates_.push_back({{first_.mechanism, 1}});
    for (const auto chosen : {mechanism::locks, mechanism::one_lock, mechanism::stm}) {
      if (chosen != first_.mechanism) epoch_candidates_.push_back({{chosen, 1}});
    }
  }
  tunes_workers_ = may_change_mechanism() || !worker_candidates(first_.mechanism).empty();
}

choice plan::start_of(mechanism chosen) const noexcept {
  return {chosen, chosen == first_.mechanism ? first_.grain : grain_of(chosen, requested_)};
}

std::vector<candidate> plan::worker_candidates(mechanism chosen) const {
  if (first_.mechanism == mechanism::plain) return {};
  const bool grain_is_free = requested_.grain == 0;
  if (cells_ == cells::several) {
    if (!grain_is_free || (chosen != mechanism::htm && chosen != mechanism::stm)) return {};
    return {{start_of(chosen), true}};
  }
  // Transactions and atomics notice each other, so each worker may change between them at any time.
  // No other two mechanisms may run concurrently.
  const bool mechanism_is_free = requested_.mechanism == mechanism::automatic;
  if (!has_hardware_ || !(mechanism_is_free || requested_.mechanism == mechanism::htm)) return {};
  if (!grain_is_free && !mechanism_is_free) return {};
  std::vector<candidate> candidates{
      {{mechanism::htm, grain_of(mechanism::htm, requested_)}, grain_is_free}};
  if (mechanism_is_free) candidates.push_back({{mechanism::atomics, 1}});
  if (first_.mechanism == mechanism::atomics) std::swap(candidates[0], candidates[1]);
  return candidates;
}

std::size_t plan::join() {
  if (!may_change_mechanism()) return 0;
  auto at = std::find(operators_.begin(), operators_.end(), nullptr);
  if (at == operators_.end()) at = operators_.emplace(at);
  *at = std::make_unique<operator_state>();
  return static_cast<std::size_t>(at - operators_.begin());
}

void plan::leave(std::size_t op) noexcept {
  if (may_change_mechanism()) operators_[op].reset();
}

mechanism plan::next_epoch(std::size_t op, mechanism ran, const activity_counts& counted) {
  for (auto& o : operators_) {
    if (!o) continue;
    if (o->epochs) {
      o->epochs->close(ran);
    } else if (o->ran.load(std::memory_order_relaxed) >= untuned_operators) {
      o->epochs = std::make_unique<epoch_tuner>(workers_, epoch_candidates_);
      if (moved_to_stm_) o->epochs->move_to(stm_candidate());
    }
  }
  if (!moved_to_stm_ && must_leave(ran, counted)) move_all_to_stm();
  const auto& epochs = operators_[op]->epochs;
  if (epochs) return epochs->next();
  return epoch_candidates_[moved_to_stm_ ? stm_candidate() : 0].start.mechanism;
}

// The rules that need no time measurement. They apply once; later choices use measured time.
bool plan::must_leave(mechanism chosen, const activity_counts& counted) const noexcept {
  if (chosen != first_.mechanism) return false;
  if (chosen == mechanism::htm) return falls_back_too_often(counted);
  return chosen == mechanism::locks && takes_too_many_locks(counted);
}

void plan::move_all_to_stm() noexcept {
  moved_to_stm_ = true;
  for (auto& o : operators_) {
    if (o && o->epochs) o->epochs->move_to(stm_candidate());
  }
}

std::string plan::why(mechanism now, const activity_counts& counted) const {
  if (now == first_.mechanism) return first_.why;
  if (!moved_to_stm_ || now != mechanism::stm) {
    return first_.why + "; epochs that tried it took less time than by " +
           std::string(name(moved_to_stm_ ? mechanism::stm : first_.mechanism));
  }
  if (first_.mechanism == mechanism::locks) {
    return first_.why + "; " + std::to_string(counted.by_locks) + " activities took " +
           std::to_string(counted.stripes) + " locks";
  }
  return std::to_string(counted.fallbacks) + " of " +
         std::to_string(counted.fallbacks + counted.committed) +
         " groups of hardware transactions took the fallback lock";
}

}  // namespace cairn::activity
