// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/activity/plan.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {
namespace {

std::size_t htm_grain(const options& asked) noexcept {
  return std::clamp<std::size_t>(asked.grain ? asked.grain : asked.start.htm_grain, 1, max_grain);
}
std::size_t stm_grain(const options& asked) noexcept {
  return asked.grain ? htm_grain(asked) : asked.start.stm_grain;
}
std::size_t grain_of(mechanism how, const options& asked) noexcept {
  return how == mechanism::htm ? htm_grain(asked) : how == mechanism::stm ? stm_grain(asked) : 1;
}

struct reasoned {
  mechanism how;
  std::string why;
};

void refuse_what_cannot_run(cells of, mechanism how, bool one_worker) {
  if (how == mechanism::plain && !one_worker) {
    throw usage_error("mechanism plain needs one writer per element: use --threads 1");
  }
  if (of == cells::one && how == mechanism::stm) {
    throw usage_error(
        "mechanism stm is for operators that change several elements: use atomics or htm");
  }
  if (of == cells::several && how == mechanism::atomics) {
    throw usage_error(
        "mechanism atomics cannot change several elements at once: use htm, stm or locks");
  }
}

// Chooses hardware transactions, or their replacement where there are none.
reasoned decide_hardware(cells of, const options& asked, const surroundings& here) {
  const bool free = asked.how == mechanism::automatic;
  const auto& start = asked.start;
  if (here.emulated || here.hardware) {
    const bool htm = of == cells::several || !free || start.htm_first;
    const auto how = htm ? mechanism::htm : mechanism::atomics;
    if (here.emulated) return {how, "hardware transactions are emulated"};
    if (!free) return {how, "it was requested"};
    const std::string why = "hardware transactions work here";
    if (of == cells::several || !start.fitted) return {how, why};
    return {how, why + ", and by the fitted costs " + (htm ? "they pay" : "atomics cost less")};
  }
  const auto why = "no hardware transactions: " + here.why_no_hardware;
  if (of == cells::one) return {mechanism::atomics, why};
  if (!start.fitted) return {mechanism::locks, why};
  return {start.stm_first ? mechanism::stm : mechanism::locks,
          why + "; it costs less by the fitted costs"};
}

}  // namespace

decision decide(cells of, const options& asked, const surroundings& here) {
  refuse_what_cannot_run(of, asked.how, here.one_worker);
  reasoned chosen{asked.how, "it was requested"};
  if (asked.how == mechanism::automatic && here.one_worker) {
    chosen = {mechanism::plain, "the rank has one worker"};
  } else if (asked.how == mechanism::automatic || asked.how == mechanism::htm) {
    chosen = decide_hardware(of, asked, here);
  }
  return {chosen.how, grain_of(chosen.how, asked), std::move(chosen.why)};
}

plan::plan(cells of, const options& asked, const surroundings& here, int workers)
    : of_(of),
      asked_(asked),
      has_hardware_(here.emulated || here.hardware),
      workers_(workers),
      first_(decide(of, asked, here)) {
  if (of == cells::several && first_.how != asked.how && first_.how != mechanism::plain) {
    epoch_ways_.push_back({{first_.how, 1}});
    for (const auto how : {mechanism::locks, mechanism::one_lock, mechanism::stm}) {
      if (how != first_.how) epoch_ways_.push_back({{how, 1}});
    }
  }
  tunes_workers_ = may_move() || !worker_ways(first_.how).empty();
}

choice plan::start_of(mechanism how) const noexcept {
  return {how, how == first_.how ? first_.grain : grain_of(how, asked_)};
}

std::vector<candidate> plan::worker_ways(mechanism how) const {
  if (first_.how == mechanism::plain) return {};
  const bool grain_is_free = asked_.grain == 0;
  if (of_ == cells::several) {
    if (!grain_is_free || (how != mechanism::htm && how != mechanism::stm)) return {};
    return {{start_of(how), true}};
  }
  // Transactions and atomics notice each other, so each worker may change between them at any time.
  // No other two mechanisms may run concurrently.
  const bool how_is_free = asked_.how == mechanism::automatic;
  if (!has_hardware_ || !(how_is_free || asked_.how == mechanism::htm)) return {};
  if (!grain_is_free && !how_is_free) return {};
  std::vector<candidate> ways{{{mechanism::htm, grain_of(mechanism::htm, asked_)}, grain_is_free}};
  if (how_is_free) ways.push_back({{mechanism::atomics, 1}});
  if (first_.how == mechanism::atomics) std::swap(ways[0], ways[1]);
  return ways;
}

std::size_t plan::join() {
  if (!may_move()) return 0;
  auto at = std::find(operators_.begin(), operators_.end(), nullptr);
  if (at == operators_.end()) at = operators_.emplace(at);
  *at = std::make_unique<operator_state>();
  return static_cast<std::size_t>(at - operators_.begin());
}

void plan::leave(std::size_t op) noexcept {
  if (may_move()) operators_[op].reset();
}

mechanism plan::next_epoch(std::size_t op, mechanism ran, const activity_counts& counted) {
  for (auto& o : operators_) {
    if (!o) continue;
    if (o->epochs) {
      o->epochs->close(ran);
    } else if (o->ran.load(std::memory_order_relaxed) >= untuned_operators) {
      o->epochs = std::make_unique<epoch_tuner>(workers_, epoch_ways_);
      if (had_to_leave_) o->epochs->move_to(stm_way());
    }
  }
  if (!had_to_leave_ && must_leave(ran, counted)) move_all_to_stm();
  const auto& epochs = operators_[op]->epochs;
  if (epochs) return epochs->next();
  return epoch_ways_[had_to_leave_ ? stm_way() : 0].start.how;
}

// The rules that need no time measurement. They apply once; later choices use measured time.
bool plan::must_leave(mechanism how, const activity_counts& counted) const noexcept {
  if (how != first_.how) return false;
  if (how == mechanism::htm) return falls_back_too_often(counted.fallbacks, counted.committed);
  return how == mechanism::locks && locks_too_many(counted.stripes, counted.committed);
}

void plan::move_all_to_stm() noexcept {
  had_to_leave_ = true;
  for (auto& o : operators_) {
    if (o && o->epochs) o->epochs->move_to(stm_way());
  }
}

std::string plan::why(mechanism now, const activity_counts& counted) const {
  if (now == first_.how) return first_.why;
  if (!had_to_leave_ || now != mechanism::stm) {
    return first_.why + "; epochs that tried it took less time than by " +
           std::string(name(had_to_leave_ ? mechanism::stm : first_.how));
  }
  if (first_.how == mechanism::locks) {
    return first_.why + "; " + std::to_string(counted.committed) + " activities took " +
           std::to_string(counted.stripes) + " locks";
  }
  return std::to_string(counted.fallbacks) + " of " +
         std::to_string(counted.fallbacks + counted.committed) +
         " groups of hardware transactions took the fallback lock";
}

}  // namespace cairn::activity
