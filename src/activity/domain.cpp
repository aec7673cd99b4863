// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/activity/domain.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {
namespace {

constexpr std::uint64_t no_epoch = ~std::uint64_t{0} >> 8;

constexpr std::uint64_t packed(std::uint64_t epoch, mechanism how) noexcept {
  return epoch << 8 | static_cast<std::uint64_t>(how);
}

struct first_choice {
  mechanism how;
  std::string why;
};

first_choice choose(world& w, const options& asked) {
  const bool one_writer = w.workers() == 1;
  const auto hardware = [&]() -> first_choice {
    if (emulation_for(w, asked)) return {mechanism::htm, "hardware transactions are emulated"};
    if (w.transactions().works) return {mechanism::htm, "hardware transactions work here"};
    const auto why = "no hardware transactions: " + w.transactions().reason;
    if (!asked.start.fitted) return {mechanism::locks, why};
    const auto first = asked.start.stm_first ? mechanism::stm : mechanism::locks;
    return {first, why + "; it costs less by the fitted costs"};
  };
  switch (asked.how) {
    case mechanism::automatic:
      if (one_writer) return {mechanism::plain, "the rank has one worker"};
      return hardware();
    case mechanism::plain:
      if (!one_writer) {
        throw usage_error("mechanism plain needs one writer per element: use --threads 1");
      }
      break;
    case mechanism::atomics:
      throw usage_error(
          "mechanism atomics cannot change several elements at once: use htm, stm or locks");
    case mechanism::htm: {
      auto chosen = hardware();
      if (chosen.how == mechanism::htm) break;
      return chosen;
    }
    default:
      break;
  }
  return {asked.how, "it was asked for"};
}

}  // namespace

domain::domain(world& w, const options& opt) : world_(w), options_(opt), counted_(w.workers()) {
  auto chosen = choose(w, opt);
  options_.how = chosen.how;
  why_ = std::move(chosen.why);
  now_ = packed(no_epoch, chosen.how);
  may_move_ = chosen.how != opt.how && chosen.how != mechanism::plain;
  if (may_move_) {
    ways_.push_back({{chosen.how, 1}});
    for (const auto how : {mechanism::locks, mechanism::one_lock, mechanism::stm}) {
      if (how != chosen.how) ways_.push_back({{how, 1}});
    }
  }
  if (chosen.how == mechanism::stm) versions_ = std::make_unique<tm::version_table<>>();
  if (const auto emulate = emulation_for(w, opt)) emulation_ = make_emulation(w.pool(), *emulate);
}

std::size_t domain::join() {
  if (!may_move_) return 0;
  auto at = std::find(operators_.begin(), operators_.end(), nullptr);
  if (at == operators_.end()) at = operators_.emplace(at);
  *at = std::make_unique<epoch_tuner>(world_.workers(), ways_);
  if (had_to_leave_) (*at)->move_to(stm_way());
  return static_cast<std::size_t>(at - operators_.begin());
}

std::string domain::why() const {
  if (how() == options_.how) return why_;
  if (!had_to_leave_ || how() != mechanism::stm) {
    return why_ + "; epochs that tried it took less time than by " +
           std::string(name(had_to_leave_ ? mechanism::stm : options_.how));
  }
  const auto committed = counted_.total(obs::counter::activities);
  if (options_.how == mechanism::locks) {
    return why_ + "; " + std::to_string(committed) + " activities took " +
           std::to_string(locks_taken()) + " locks";
  }
  const auto fallbacks = counted_.total(obs::counter::fallbacks);
  const auto groups = fallbacks + committed;
  return std::to_string(fallbacks) + " of " + std::to_string(groups) +
         " groups of hardware transactions took the fallback lock";
}

// The first worker decides, for all. No group of the last epoch runs any more, so none runs beside
// a group by another mechanism.
mechanism domain::enter(std::uint64_t epoch, std::size_t op) {
  const tm::fallback_lock::guard alone(entering_, relax_in{&world_.pool()});
  const auto now = now_.load(std::memory_order_acquire);
  auto how = static_cast<mechanism>(now & 0xff);
  if (now >> 8 == epoch) return how;
  for (auto& o : operators_) {
    if (o) o->close(how);
  }
  if (!had_to_leave_ && must_leave(how)) move_all_to_stm();
  how = operators_[op]->next();
  if (how == mechanism::stm && !versions_) versions_ = std::make_unique<tm::version_table<>>();
  now_.store(packed(epoch, how), std::memory_order_release);
  return how;
}

// What is known without a clock. Once: from then on time decides.
bool domain::must_leave(mechanism how) const noexcept {
  const auto committed = counted_.total(obs::counter::activities);
  if (how != options_.how) return false;
  if (how == mechanism::htm) {
    return falls_back_too_often(counted_.total(obs::counter::fallbacks), committed);
  }
  return how == mechanism::locks &&
         locks_too_many(counted_.total(obs::counter::attempts), committed);
}

void domain::move_all_to_stm() noexcept {
  had_to_leave_ = true;
  for (auto& o : operators_) {
    if (o) o->move_to(stm_way());
  }
}

}  // namespace cairn::activity
