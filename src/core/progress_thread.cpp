// SPDX-License-Identifier: Apache-2.0
// The progress thread (progress_style.hpp).
#include <cstdint>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {

std::uint64_t progress_engine::polls_of_workers() const noexcept {
  std::uint64_t polls = 0;
  for (worker_t w{0}; w < pool_.workers(); ++w) {
    polls += workers_[w].polls.load(std::memory_order_relaxed);
  }
  return polls;
}

bool progress_engine::must_rest() noexcept {
  if (style_ != progress_style::automatic) return false;
  const auto polls = polls_of_workers();
  return std::exchange(polls_seen_, polls) != polls;
}

// Epochs' handlers remain with the workers: on a rank with one worker nothing else may change
// elements. Nobody else can take in answers to what these handlers asked, nor send what they sent.
task::look progress_engine::serve() noexcept {
  const worker_t me{pool_.workers()};
  try {
    const bool rests = must_rest();
    bool moved = !rests && poll(me);
    while (!rests && !control_.stopping()) {
      auto b = inbox_.take_standing();
      if (!b) break;
      deliver(me, std::move(*b));
      moved = true;
    }
    moved |= pool_.take_in(me);
    if (moved) flush(me, flush_scope::all);
    if (rests) return task::look::rest;
    return moved ? task::look::worked : task::look::nothing;
  } catch (...) {  // out of memory
    control_.poison(rank_, text_of_exception());
    return task::look::nothing;
  }
}

}  // namespace cairn
