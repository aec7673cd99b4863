// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <cairn/base/random.hpp>

#include "task/fiber.hpp"

namespace cairn::support {

/// A model of the C++ memory model, not of one processor. Each location keeps all stored values,
/// and a load may return any value that the thread does not know to be overwritten. Release and
/// acquire transfer this knowledge. Sequentially consistent accesses also know the newest value
/// that an earlier one of them stored or found. There are no fences and no consume; stores take
/// effect in the order of execution.
class weak_memory {
 public:
  static constexpr std::size_t max_locations = 24;
  using location = std::uint32_t;

  explicit weak_memory(std::size_t threads) : knows_(threads) {}

  location add(std::uint64_t value) {
    stored_.push_back({{value, {}}});
    return static_cast<location>(stored_.size() - 1);
  }
  std::uint64_t load(std::size_t thread, location at, std::memory_order order, random64& random);
  void store(std::size_t thread, location at, std::uint64_t value, std::memory_order order) {
    put(thread, at, value, order, {});
  }
  /// Replaces the newest value v by f(v) if f returns a value. Returns v.
  template <class F>
  std::uint64_t modify(std::size_t thread, location at, std::memory_order order, F&& f) {
    const auto newest = stored_[at].back();
    found(thread, at, stored_[at].size() - 1, order);
    if (const std::optional<std::uint64_t> next = f(newest.value)) {
      put(thread, at, *next, order, newest.tells);  // continues a release sequence
    }
    return newest.value;
  }
  /// An access to data that is not atomic: no two accesses to the location may overlap. Returns
  /// whether the last one happened before this one.
  [[nodiscard]] bool touch(std::size_t thread, location at) {
    const bool ordered = knows_[thread][at] == stored_[at].size() - 1;
    put(thread, at, 0, std::memory_order_relaxed, {});
    return ordered;
  }
  [[nodiscard]] std::uint64_t newest(location at) const { return stored_[at].back().value; }

 private:
  using knowledge = std::array<std::uint32_t, max_locations>;  // the oldest that may be found
  struct message {
    std::uint64_t value;
    knowledge tells;
  };

  void learn(std::size_t thread, const knowledge& passed_on);
  void found(std::size_t thread, location at, std::size_t index, std::memory_order order);
  void put(std::size_t thread, location at, std::uint64_t value, std::memory_order order,
           knowledge tells);

  std::vector<std::vector<message>> stored_;
  std::vector<knowledge> knows_;
  knowledge seen_in_order_{};  // by sequentially consistent accesses
};

/// Runs threads that access memory through stepped_atomics, one at a time, and may switch between
/// them before any access. A seed determines which thread continues and which value each load
/// returns.
class stepper {
 public:
  explicit stepper(std::size_t threads);
  ~stepper();

  /// Runs one body per thread to its end. `prepare` runs first and constructs the shared data; all
  /// threads know its stores.
  void play(std::uint64_t seed, const std::function<void()>& prepare,
            const std::vector<std::function<void()>>& bodies);

  /// May switch to another thread. Called by the atomics and by waiting loops.
  void step();

  [[nodiscard]] weak_memory& memory() { return *memory_; }
  [[nodiscard]] random64& random() { return random_; }
  /// The running thread; 0 while nothing is played.
  [[nodiscard]] std::size_t current_thread() const { return playing_ ? current_ : 0; }
  /// Whether the play has taken more steps than any that makes progress. Loops that wait must end.
  [[nodiscard]] bool stalled() const { return steps_ > max_steps; }

  /// The stepper of the atomics of this OS thread.
  static stepper*& current();
  /// step() of the current one, which it returns.
  static stepper& begin_step() {
    current()->step();
    return *current();
  }

 private:
  static constexpr std::uint64_t max_steps = 4'000;
  struct simulated_thread {
    stepper* owner;
    std::unique_ptr<task::fiber> fiber;
    std::function<void()> body;
    bool done = true;
  };
  static void run_strand(void* argument);
  void switch_away();

  std::vector<simulated_thread> threads_;
  task::fiber runner_;
  std::optional<weak_memory> memory_;
  random64 random_{0};
  std::size_t current_ = 0;
  bool playing_ = false;
  std::uint64_t steps_ = 0;
};

/// std::atomic<T> in which every access is a step, over the memory of the current stepper.
template <class T>
class stepped {
  static constexpr auto in_order = std::memory_order_seq_cst;

 public:
  stepped(T value = {}) : at_(stepper::current()->memory().add(bits(value))) {}
  stepped(const stepped&) = delete;
  stepped& operator=(const stepped&) = delete;

  T load(std::memory_order order = in_order) const {
    auto& s = stepper::begin_step();
    return value(s.memory().load(s.current_thread(), at_, order, s.random()));
  }
  void store(T x, std::memory_order order = in_order) {
    auto& s = stepper::begin_step();
    s.memory().store(s.current_thread(), at_, bits(x), order);
  }
  T exchange(T x, std::memory_order order = in_order) {
    return modify(order, [&](T) { return x; });
  }
  T fetch_add(T n, std::memory_order order = in_order) {
    return modify(order, [&](T x) { return static_cast<T>(x + n); });
  }
  T fetch_sub(T n, std::memory_order order = in_order) {
    return modify(order, [&](T x) { return static_cast<T>(x - n); });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order,
                               std::memory_order = std::memory_order_relaxed) {
    auto& s = stepper::begin_step();
    const auto found = value(s.memory().modify(
        s.current_thread(), at_, order, [&](std::uint64_t x) -> std::optional<std::uint64_t> {
          if (value(x) != expected) return std::nullopt;
          return bits(desired);
        }));
    const bool done = found == expected;
    expected = found;
    return done;
  }
  /// Waits for a notification unless a newer value than `old` is there, as a futex does.
  void wait(T old, std::memory_order order) {
    if (load(order) != old || newest() != old) return;
    const auto before = notified_;
    auto& s = *stepper::current();
    while (notified_ == before && !s.stalled()) s.step();
  }
  void notify_all() {
    stepper::begin_step();
    ++notified_;
  }
  [[nodiscard]] T newest() const { return value(stepper::current()->memory().newest(at_)); }

 private:
  static std::uint64_t bits(T x) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<std::uintptr_t>(x);
    } else {
      return static_cast<std::uint64_t>(x);
    }
  }
  static T value(std::uint64_t bits) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(bits);
    } else {
      return static_cast<T>(bits);
    }
  }
  template <class F>
  T modify(std::memory_order order, F&& f) {
    auto& s = stepper::begin_step();
    return value(s.memory().modify(s.current_thread(), at_, order, [&](std::uint64_t x) {
      return std::optional(bits(f(value(x))));
    }));
  }

  weak_memory::location at_;
  std::uint64_t notified_ = 0;
};

/// With faults, for broken twins: sequentially consistent accesses only acquire and release.
template <class T>
struct stepped_without_order : stepped<T> {
  using stepped<T>::stepped;
  T load(std::memory_order order = std::memory_order_acquire) const {
    return stepped<T>::load(order == std::memory_order_seq_cst ? std::memory_order_acquire : order);
  }
  void store(T x, std::memory_order order = std::memory_order_release) {
    stepped<T>::store(x, order == std::memory_order_seq_cst ? std::memory_order_release : order);
  }
};
/// Stores that should release do not.
template <class T>
struct stepped_without_release : stepped<T> {
  using stepped<T>::stepped;
  void store(T x, std::memory_order order = std::memory_order_seq_cst) {
    stepped<T>::store(x, order == std::memory_order_release ? std::memory_order_relaxed : order);
  }
};

/// Data that is not atomic and belongs to one thread at a time.
class stepped_data {
 public:
  stepped_data() : at_(stepper::current()->memory().add(0)) {}
  /// An access. Returns whether all earlier ones happened before it.
  [[nodiscard]] bool touch() {
    auto& s = stepper::begin_step();
    return s.memory().touch(s.current_thread(), at_);
  }

 private:
  weak_memory::location at_;
};

/// A lock of stepped threads.
class stepped_lock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire) && !stepper::current()->stalled()) {
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  stepped<bool> held_;
};

/// Atomics of the versioned-lock engine in which every access is a step. A cell is a std::uint64_t
/// that holds the number of its location and never changes.
struct stepped_atomics {
  using word = stepped<std::uint64_t>;

  static std::uint64_t load(std::uint64_t& cell) {
    return load_as(cell, std::memory_order_acquire);
  }
  static void store(std::uint64_t& cell, std::uint64_t value) {
    store_as(cell, value, std::memory_order_release);
  }

  static std::uint64_t load_as(std::uint64_t cell, std::memory_order order) {
    auto& s = stepper::begin_step();
    return s.memory().load(s.current_thread(), static_cast<weak_memory::location>(cell), order,
                           s.random());
  }
  static void store_as(std::uint64_t cell, std::uint64_t value, std::memory_order order) {
    auto& s = stepper::begin_step();
    s.memory().store(s.current_thread(), static_cast<weak_memory::location>(cell), value, order);
  }
};

/// With relaxed accesses to data.
struct relaxed_stores : stepped_atomics {
  static void store(std::uint64_t& cell, std::uint64_t value) {
    store_as(cell, value, std::memory_order_relaxed);
  }
};
struct relaxed_loads : stepped_atomics {
  static std::uint64_t load(std::uint64_t& cell) {
    return load_as(cell, std::memory_order_relaxed);
  }
};

}  // namespace cairn::support
