// SPDX-License-Identifier: Apache-2.0
#include "core/interrupt.hpp"

#include <cairn/base/contract.hpp>

namespace cairn {
namespace {

std::atomic<interrupt_handler*> innermost{nullptr};

}  // namespace

interrupt_handler::interrupt_handler(second then, std::size_t worlds)
    : worlds_(worlds), outer_(innermost.exchange(this)) {
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;  // nohup means it
  struct sigaction action {};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_RESTART;
  if (then == second::kills) action.sa_flags |= static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  installed_ = true;
}

interrupt_handler::~interrupt_handler() {
  if (installed_) sigaction(SIGINT, &before_, nullptr);
  innermost.store(outer_);
  while (running_.load() != 0) {  // in another thread, for a moment
  }
}

void interrupt_handler::on_signal(int) noexcept {
  auto* const here = innermost.load();
  if (here == nullptr) return;
  ++here->running_;
  here->came_.store(true);
  for (auto& slot : here->worlds_) {
    if (auto* const w = slot.load()) w->cancel();
  }
  --here->running_;
}

interrupt_handler::interruptible::interruptible(world& w) {
  auto* const handler = innermost.load();
  if (handler == nullptr) return;
  for (auto& slot : handler->worlds_) {
    world* none = nullptr;
    if (!slot.compare_exchange_strong(none, &w)) continue;
    slot_ = &slot;
    if (handler->came_.load()) w.cancel();
    return;
  }
  CAIRN_EXPECTS(false, "more worlds run than the handler of SIGINT was told");
}

interrupt_handler::interruptible::~interruptible() {
  if (slot_ == nullptr) return;
  slot_->store(nullptr);
  // A handler in another thread may have found the world just before.
  while (innermost.load()->running_.load() != 0) {
  }
}

}  // namespace cairn
