// SPDX-License-Identifier: Apache-2.0
#include "core/interrupt.hpp"

#include <time.h>

#include <algorithm>

#include <cairn/base/contract.hpp>

namespace cairn {
namespace {

std::atomic<interrupt_handler*> active_handler{nullptr};
// Threads that load `active_handler` or a registered world, counted before they do.
std::atomic<int> num_stopping{0};

// Spins: a signal handler or a timer that stops worlds ends soon.
void wait_for_stopping_threads() noexcept {
  while (num_stopping.load() != 0) {
  }
}

std::uint64_t now_ns() noexcept {  // async-signal-safe
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

interrupt_handler::interrupt_handler(second then, std::size_t worlds)
    : second_(then), worlds_(worlds) {
  interrupt_handler* none = nullptr;
  if (!active_handler.compare_exchange_strong(none, this)) return;
  acts_ = true;
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : cancelling_signals) sigaddset(&action.sa_mask, number);
  for (std::size_t i = 0; i < before_.size(); ++i) {
    sigaction(cancelling_signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(cancelling_signals[i], &action, nullptr);
  }
}

interrupt_handler::~interrupt_handler() {
  if (!acts_) return;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    sigaction(cancelling_signals[i], &before_[i], nullptr);
  }
  active_handler.store(nullptr);
  wait_for_stopping_threads();
}

void interrupt_handler::on_signal(int number) noexcept {
  ++num_stopping;
  if (auto* const here = active_handler.load()) {
    here->kill_if_asked_again(number);
    here->stop(stop_cause::signal(number));
  }
  --num_stopping;
}

void interrupt_handler::kill_if_asked_again(int number) noexcept {
  const auto now = now_ns();
  std::uint64_t first = 0;
  if (first_signal_ns_.compare_exchange_strong(first, now)) return;
  if (second_ == second::nothing || now - first < same_request_ns) return;
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(number, &standard, nullptr);
  raise(number);  // blocked until the handler returns
}

void interrupt_handler::stop(stop_cause cause) noexcept {
  ++num_stopping;
  std::uint64_t none = 0;
  cause_.compare_exchange_strong(none, cause.number());
  cancel_worlds();
  --num_stopping;
}

bool interrupt_handler::was_asked_to_stop() noexcept {
  ++num_stopping;
  const auto* const here = active_handler.load();
  const bool asked = here != nullptr && here->first_signal_ns_.load() != 0;
  --num_stopping;
  return asked;
}

void interrupt_handler::cancel_worlds() noexcept {
  for (auto& slot : worlds_) {
    if (auto* const w = slot.load()) w->cancel();
  }
}

interrupt_handler::interruptible::interruptible(interrupt_handler& handler, world& w) {
  const auto free =
      std::ranges::find_if(handler.worlds_, [&](auto& slot) { return slot.load() == nullptr; });
  CAIRN_EXPECTS(free != handler.worlds_.end(),
                "more worlds run than the handler was constructed for");
  slot_ = &*free;
  slot_->store(&w);
  if (handler.cause().any()) w.cancel();
}

interrupt_handler::interruptible::~interruptible() {
  slot_->store(nullptr);
  wait_for_stopping_threads();  // one may have loaded this world
}

}  // namespace cairn
