// SPDX-License-Identifier: Apache-2.0
#include <cairn/activity/domain.hpp>
#include <cairn/base/error.hpp>

namespace cairn::activity {
namespace {

constexpr std::uint64_t no_epoch = ~std::uint64_t{0} >> 8;

constexpr std::uint64_t packed(std::uint64_t epoch, mechanism how) noexcept {
  return epoch << 8 | static_cast<std::uint64_t>(how);
}

struct choice {
  mechanism how;
  std::string why;
};

choice choose(world& w, const options& asked) {
  const bool one_writer = w.workers() == 1;
  const auto hardware = [&]() -> choice {
    if (emulation_for(w, asked)) return {mechanism::htm, "hardware transactions are emulated"};
    if (w.transactions().works) return {mechanism::htm, "hardware transactions work here"};
    return {mechanism::locks, "no hardware transactions: " + w.transactions().reason};
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
  may_move_ = (opt.how == mechanism::automatic && chosen.how == mechanism::htm) ||
              (opt.how != mechanism::locks && chosen.how == mechanism::locks);
  if (may_move_ || chosen.how == mechanism::stm) {
    versions_ = std::make_unique<tm::version_table<>>();
  }
  if (const auto emulate = emulation_for(w, opt)) emulation_ = make_emulation(w.pool(), *emulate);
}

std::string domain::why() const {
  if (how() == options_.how) return why_;
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

// Workers that enter at the same time may have counted differently: the first decides. No group
// of the last epoch runs any more, so none runs beside a group by another mechanism.
mechanism domain::enter(std::uint64_t now, std::uint64_t epoch) noexcept {
  auto how = static_cast<mechanism>(now & 0xff);
  const auto counted = [this](obs::counter c) { return counted_.total(c); };
  const auto committed = counted(obs::counter::activities);
  if ((how == mechanism::htm &&
       falls_back_too_often(counted(obs::counter::fallbacks), committed)) ||
      (how == mechanism::locks && locks_too_many(counted(obs::counter::attempts), committed))) {
    how = mechanism::stm;
  }
  if (now_.compare_exchange_strong(now, packed(epoch, how), std::memory_order_acq_rel)) return how;
  return static_cast<mechanism>(now & 0xff);
}

}  // namespace cairn::activity
