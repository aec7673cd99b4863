// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <cairn/base/random.hpp>

#include "task/fiber.hpp"

namespace cairn::support {

/// A model of the C++ memory model, not of one processor. Each location keeps all stored values,
/// and a load may return any value that the thread does not know to be overwritten. Release and
/// acquire transfer this knowledge. There are no fences, consume or seq_cst; stores take effect in
/// the order of execution.
class weak_memory {
 public:
  static constexpr std::size_t max_locations = 24;
  using location = std::uint32_t;

  explicit weak_memory(std::size_t threads) : knows_(threads) {}

  location add(std::uint64_t value) {
    stored_.push_back({{value, {}}});
    return static_cast<location>(stored_.size() - 1);
  }
  std::uint64_t load(std::size_t thread, location at, bool acquire, random64& random);
  void store(std::size_t thread, location at, std::uint64_t value, bool release) {
    put(thread, at, value, release, {});
  }
  /// Replaces the newest value v by f(v) if f returns a value. Returns v.
  template <class F>
  std::uint64_t modify(std::size_t thread, location at, bool acquire, bool release, F&& f) {
    const auto newest = stored_[at].back();
    knows_[thread][at] = static_cast<std::uint32_t>(stored_[at].size() - 1);
    if (acquire) learn(thread, newest.tells);
    if (const std::optional<std::uint64_t> next = f(newest.value)) {
      put(thread, at, *next, release, newest.tells);  // continues a release sequence
    }
    return newest.value;
  }
  [[nodiscard]] std::uint64_t newest(location at) const { return stored_[at].back().value; }

 private:
  using knowledge = std::array<std::uint32_t, max_locations>;  // the oldest that may be found
  struct message {
    std::uint64_t value;
    knowledge tells;
  };

  void learn(std::size_t thread, const knowledge& passed_on);
  void put(std::size_t thread, location at, std::uint64_t value, bool release, knowledge tells);

  std::vector<std::vector<message>> stored_;
  std::vector<knowledge> knows_;
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
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  /// The stepper of the atomics of this OS thread.
  static stepper*& current();

 private:
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

/// Atomics of the versioned-lock engine in which every access is a step. A cell is a std::uint64_t
/// that holds the number of its location and never changes.
struct stepped_atomics {
  class word {
   public:
    word(std::uint64_t value = 0) : at_(stepper::current()->memory().add(value)) {}
    std::uint64_t load(std::memory_order order) const {
      auto& s = begin_step();
      return s.memory().load(s.current_thread(), at_, order == std::memory_order_acquire,
                             s.random());
    }
    void store(std::uint64_t value, std::memory_order order) {
      auto& s = begin_step();
      s.memory().store(s.current_thread(), at_, value, order == std::memory_order_release);
    }
    bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t desired,
                                 std::memory_order order, std::memory_order) {
      auto& s = begin_step();
      const auto found = s.memory().modify(
          s.current_thread(), at_, acquires(order), releases(order),
          [&](std::uint64_t v) { return v == expected ? std::optional(desired) : std::nullopt; });
      const bool done = found == expected;
      expected = found;
      return done;
    }
    std::uint64_t fetch_add(std::uint64_t n, std::memory_order order) {
      auto& s = begin_step();
      return s.memory().modify(s.current_thread(), at_, acquires(order), releases(order),
                               [&](std::uint64_t v) { return std::optional(v + n); });
    }
    [[nodiscard]] std::uint64_t newest() const { return stepper::current()->memory().newest(at_); }

   private:
    static bool acquires(std::memory_order o) {
      return o == std::memory_order_acquire || o == std::memory_order_acq_rel;
    }
    static bool releases(std::memory_order o) {
      return o == std::memory_order_release || o == std::memory_order_acq_rel;
    }
    weak_memory::location at_;
  };

  static std::uint64_t load(std::uint64_t& cell) { return load_as(cell, true); }
  static void store(std::uint64_t& cell, std::uint64_t value) { store_as(cell, value, true); }

  static std::uint64_t load_as(std::uint64_t cell, bool acquire) {
    auto& s = begin_step();
    return s.memory().load(s.current_thread(), static_cast<weak_memory::location>(cell), acquire,
                           s.random());
  }
  static void store_as(std::uint64_t cell, std::uint64_t value, bool release) {
    auto& s = begin_step();
    s.memory().store(s.current_thread(), static_cast<weak_memory::location>(cell), value, release);
  }

 private:
  static stepper& begin_step() {
    stepper::current()->step();
    return *stepper::current();
  }
};

/// With relaxed accesses to data.
struct relaxed_stores : stepped_atomics {
  static void store(std::uint64_t& cell, std::uint64_t value) { store_as(cell, value, false); }
};
struct relaxed_loads : stepped_atomics {
  static std::uint64_t load(std::uint64_t& cell) { return load_as(cell, false); }
};

}  // namespace cairn::support
