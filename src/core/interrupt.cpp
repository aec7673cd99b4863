// SPDX-License-Identifier: Apache-2.0
#include "core/interrupt.hpp"

#include <algorithm>

#include <cairn/base/contract.hpp>

namespace cairn {
namespace {

std::atomic<interrupt_handler*> active_handler{nullptr};
// Calls of on_signal, counted before they load `active_handler`.
std::atomic<int> num_running_handlers{0};

// Spins: a handler in another thread ends soon.
void wait_for_signal_handlers() noexcept {
  while (num_running_handlers.load() != 0) {
  }
}

}  // namespace

interrupt_handler::interrupt_handler(second then, std::size_t worlds) : worlds_(worlds) {
  interrupt_handler* none = nullptr;
  if (!active_handler.compare_exchange_strong(none, this)) return;
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) {  // stays ignored
    active_handler.store(nullptr);
    return;
  }
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  if (then == second::kills) action.sa_flags |= static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  acts_ = true;
}

interrupt_handler::~interrupt_handler() {
  if (!acts_) return;
  sigaction(SIGINT, &before_, nullptr);
  active_handler.store(nullptr);
  wait_for_signal_handlers();
}

void interrupt_handler::on_signal(int) noexcept {
  ++num_running_handlers;
  if (auto* const here = active_handler.load()) {
    here->came_.store(true);
    for (auto& slot : here->worlds_) {
      if (auto* const w = slot.load()) w->cancel();
    }
  }
  --num_running_handlers;
}

interrupt_handler::interruptible::interruptible(interrupt_handler& handler, world& w) {
  const auto free =
      std::ranges::find_if(handler.worlds_, [&](auto& slot) { return slot.load() == nullptr; });
  CAIRN_EXPECTS(free != handler.worlds_.end(),
                "more worlds run than the handler was constructed for");
  slot_ = &*free;
  slot_->store(&w);
  if (handler.came_.load()) w.cancel();
}

interrupt_handler::interruptible::~interruptible() {
  slot_->store(nullptr);
  wait_for_signal_handlers();  // a running one may have loaded this world
}

}  // namespace cairn
