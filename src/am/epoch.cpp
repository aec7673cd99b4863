// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <cairn/am/epoch.hpp>
#include <cairn/am/ledger.hpp>
#include <cairn/core/engine.hpp>

namespace cairn::am {
namespace {

// `handled` before `sent`: a handler that runs between the two reads then shows as a message
// on its way, never as an end.
message_counts counts_of_this_rank(world& w) {
  message_counts here;
  for (worker_t k = 0; k < w.workers(); ++k) {
    here.handled += w.messages().counts(k).handled.load(std::memory_order_acquire);
  }
  for (worker_t k = 0; k < w.workers(); ++k) {
    here.sent += w.messages().counts(k).sent.load(std::memory_order_acquire);
  }
  return here;
}

message_counts wave(world& w) {
  w.counters().add(0, obs::counter::waves);
  message_counts everywhere;
  for (const auto& rank : w.all_gather(counts_of_this_rank(w))) {
    everywhere.sent += rank.sent;
    everywhere.handled += rank.handled;
  }
  return everywhere;
}

// Alone, all messages are in this rank's blocks and inbox: the workers empty them together.
void finish_alone(world& w) {
  const auto busy = [&] {
    const auto here = counts_of_this_rank(w);
    return here.sent != here.handled;
  };
  for (unsigned idle_rounds = 0; busy() && !w.poisoned();) {
    std::atomic<bool> worked = false;
    w.pool().run([&](worker_t k) {
      while (w.messages().idle(k)) {
        worked.store(true, std::memory_order_relaxed);
        w.pool().step();
      }
    });
    // What is parked waits for a moment to come.
    if (worked) {
      idle_rounds = 0;
    } else {
      w.pool().relax(idle_rounds++);
      w.pool().throw_if_stalled();
    }
  }
  w.throw_if_poisoned();
}

}  // namespace

epoch::epoch(world& w) : world_(w) {
  w.messages().open_epoch();
  w.counters().add(0, obs::counter::epochs);
}

epoch::~epoch() {
  if (open_) world_.messages().close_epoch();
}

void epoch::close() {
  if (world_.size() == 1) {
    finish_alone(world_);
  } else {
    ledger ledger;
    do {
      while (world_.messages().idle(0)) {
      }
    } while (!ledger.finished_after(wave(world_)));
  }
  open_ = false;
  world_.messages().close_epoch();
}

}  // namespace cairn::am
