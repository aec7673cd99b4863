// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <support/stepper.hpp>

namespace cairn::support {

namespace {

constexpr bool in_order(std::memory_order o) { return o == std::memory_order_seq_cst; }
constexpr bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || in_order(o);
}
constexpr bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || in_order(o);
}

}  // namespace

std::uint64_t weak_memory::load(std::size_t thread, location at, std::memory_order order,
                                random64& random) {
  auto oldest = knows_[thread][at];
  if (in_order(order)) oldest = std::max(oldest, seen_in_order_[at]);
  const auto newest = static_cast<std::uint32_t>(stored_[at].size() - 1);
  // Mostly returns the newest, so that waiting loops end.
  if (oldest != newest && random.below(4) != 0) oldest = newest;
  const auto index = oldest + random.below(newest - oldest + 1);
  found(thread, at, index, order);
  return stored_[at][index].value;
}

void weak_memory::learn(std::size_t thread, const knowledge& passed_on) {
  for (std::size_t i = 0; i < max_locations; ++i) {
    knows_[thread][i] = std::max(knows_[thread][i], passed_on[i]);
  }
}

void weak_memory::found(std::size_t thread, location at, std::size_t index,
                        std::memory_order order) {
  const auto i = static_cast<std::uint32_t>(index);
  knows_[thread][at] = i;
  if (in_order(order)) seen_in_order_[at] = std::max(seen_in_order_[at], i);
  if (acquires(order)) learn(thread, stored_[at][i].tells);
}

void weak_memory::put(std::size_t thread, location at, std::uint64_t value, std::memory_order order,
                      knowledge tells) {
  auto& mine = knows_[thread];
  mine[at] = static_cast<std::uint32_t>(stored_[at].size());
  if (in_order(order)) seen_in_order_[at] = mine[at];
  if (releases(order)) {
    for (std::size_t i = 0; i < max_locations; ++i) tells[i] = std::max(tells[i], mine[i]);
  }
  tells[at] = std::max(tells[at], mine[at]);
  stored_[at].push_back({value, tells});
}

stepper::stepper(std::size_t threads) : threads_(threads) {
  for (auto& s : threads_) {
    s.owner = this;
    s.fiber = std::make_unique<task::fiber>(std::size_t{256} << 10, run_strand, &s);
  }
}

stepper::~stepper() = default;

stepper*& stepper::current() {
  static thread_local stepper* now = nullptr;
  return now;
}

void stepper::run_strand(void* argument) {
  auto& self = *static_cast<simulated_thread*>(argument);
  for (;;) {
    self.body();
    self.done = true;
    self.owner->switch_away();
  }
}

// Switches to a simulated_thread that is not done, or to the runner when all are done.
void stepper::switch_away() {
  const auto from = current_;
  std::size_t num_left = 0;
  for (const auto& s : threads_) num_left += s.done ? 0 : 1;
  if (num_left == 0) {
    threads_[from].fiber->switch_to(runner_);
    return;
  }
  auto pick = random_.below(num_left);
  for (std::size_t i = 0;; ++i) {
    if (threads_[i].done) continue;
    if (pick-- == 0) {
      current_ = i;
      break;
    }
  }
  if (current_ != from) threads_[from].fiber->switch_to(*threads_[current_].fiber);
}

void stepper::step() {
  if (!playing_) return;
  ++steps_;
  if (random_.below(2) == 0) switch_away();
}

void stepper::play(std::uint64_t seed, const std::function<void()>& prepare,
                   const std::vector<std::function<void()>>& bodies) {
  if (bodies.size() != threads_.size()) throw std::logic_error("one body for each thread");
  current() = this;
  random_ = random64(seed);
  memory_.emplace(threads_.size());
  prepare();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    threads_[i].body = bodies[i];
    threads_[i].done = false;
  }
  playing_ = true;
  steps_ = 0;
  current_ = random_.below(threads_.size());
  runner_.switch_to(*threads_[current_].fiber);
  playing_ = false;
}

}  // namespace cairn::support
