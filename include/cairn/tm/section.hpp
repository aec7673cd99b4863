// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cairn/base/types.hpp>
#include <cairn/hw/pause.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/hardware_section.hpp>
#include <cairn/tm/retry_policy.hpp>

namespace cairn::tm {

/// Entry of a section of single-cell operators: never blocked. The fallback uses atomics one by
/// one. Hardware detects their writes, so there is no lock to subscribe to.
struct unsubscribed {
  [[nodiscard]] static constexpr bool blocked() noexcept { return false; }
  template <relax_function Relax>
  static void wait(Relax&&) noexcept {}
};

/// Entry of a section of a domain: it reads the domain's fallback lock, and aborts if it is taken.
class subscribed {
 public:
  explicit subscribed(const fallback_lock& lock) noexcept : lock_(&lock) {}
  [[nodiscard, gnu::always_inline]] bool blocked() const noexcept { return lock_->taken(); }
  template <relax_function Relax>
  void wait(Relax&& relax) const {
    lock_->wait_until_free(relax);
  }

 private:
  const fallback_lock* lock_;
};

/// Tries once to run body(access) atomically.
///
/// The body accesses shared cells through `access` only. It may run and leave no trace, so it must
/// write its other output (such as its operators' results) anew each time. Under real hardware the
/// body must not allocate, lock, throw or make system calls.
template <hardware Hardware, class Entry, class Body>
[[gnu::always_inline]] inline attempt_outcome attempt_section(Hardware& hardware, Entry entry,
                                                              Body&& body) {
  const auto run = [&]() __attribute__((always_inline)) {
    const attempt_outcome began = hardware.begin();
    if (!began.committed()) [[unlikely]]
      return began;
    if (entry.blocked()) [[unlikely]]
      hardware.template abort<abort_code::lock_taken>();
    body(hardware.cell_access());
    return hardware.commit();
  };
  if constexpr (Hardware::aborts_by_exception) {
    // Cancels during unwinding, because a fiber must not switch inside a catch block.
    struct cancel_unless_ended {
      Hardware* hardware;
      ~cancel_unless_ended() {
        if (hardware) hardware->cancel();
      }
    };
    try {
      cancel_unless_ended guard{&hardware};
      const attempt_outcome outcome = run();
      guard.hardware = nullptr;
      return outcome;
    } catch (const leave& left) {
      return left.why;
    }
  } else {
    return run();
  }
}

enum class section_end : std::uint8_t { committed, split, fall_back };

/// Runs sections for one worker.
///
/// relax     called while another worker holds the fallback lock
template <hardware Hardware, relax_function Relax>
class section_runner {
 public:
  using hardware_type = Hardware;

  section_runner(Hardware hardware, const retry_limits& limits, std::uint64_t seed,
                 obs::counters& counters, worker_t worker, Relax relax)
      : hardware_(std::move(hardware)),
        policy_(limits, seed),
        counters_(&counters),
        worker_(worker),
        relax_(std::move(relax)) {}

  [[nodiscard]] Hardware& hardware() noexcept { return hardware_; }

  /// Runs `body` as one section of `operators` operators until it commits or the retry policy gives
  /// up; returns which. pretouch() makes the section's memory present.
  template <class Entry, class Body, class Pretouch>
  [[gnu::always_inline]] section_end run(Entry entry, std::size_t operators, Body&& body,
                                         Pretouch&& pretouch) {
    using obs::counter;
    policy_.start(operators);
    for (;;) {
      const attempt_outcome outcome = attempt_section(hardware_, entry, body);
      count(counter::attempts);
      if (outcome.committed()) [[likely]]
        return section_end::committed;
      count(counter_of(outcome.cause()));
      const retry_decision next = policy_.next(outcome);
      switch (next.step) {
        case retry_step::retry:
          for (auto n = next.pauses; n > 0; --n) hw::pause();
          break;
        case retry_step::wait_then_retry:
          count(counter::lock_waits);
          entry.wait(relax_);
          break;
        case retry_step::pretouch_then_retry:
          count(counter::pretouches);
          pretouch();
          break;
        case retry_step::split:
          count(counter::splits);
          return section_end::split;
        case retry_step::fall_back:
          count(counter::fallbacks);
          return section_end::fall_back;
      }
    }
  }

  /// Runs the operators [first, last), each exactly once in effect, in as few sections as the
  /// hardware allows: in one, else in halves, else by fallback.
  ///
  /// body      body(access, first, last) applies these operators through `access`
  /// fallback  fallback(first, last) applies them without hardware: by atomics, or holding the
  ///           fallback lock that `entry` subscribes to
  /// pretouch  pretouch(first, last) makes their memory present
  /// Returns   the number of sections that committed
  template <class Entry, class Body, class Fallback, class Pretouch>
  std::size_t run_group(Entry entry, std::size_t first, std::size_t last, Body& body,
                        Fallback& fallback, Pretouch& pretouch) {
    const auto end = run(
        entry, last - first, [&](auto access) { body(access, first, last); },
        [&] { pretouch(first, last); });
    if (end == section_end::committed) [[likely]]
      return 1;
    if (end == section_end::fall_back) {
      hardware_.outside([&] { fallback(first, last); });
      return 0;
    }
    const auto middle = first + (last - first) / 2;
    const auto before = run_group(entry, first, middle, body, fallback, pretouch);
    return before + run_group(entry, middle, last, body, fallback, pretouch);
  }

 private:
  static constexpr obs::counter counter_of(abort_cause cause) noexcept {
    switch (cause) {
      case abort_cause::conflict:
        return obs::counter::aborts_conflict;
      case abort_cause::capacity:
        return obs::counter::aborts_capacity;
      case abort_cause::explicit_:
        return obs::counter::aborts_explicit;
      case abort_cause::other:
        break;
    }
    return obs::counter::aborts_other;
  }

  void count(obs::counter c) noexcept { counters_->add(worker_, c); }

  Hardware hardware_;
  retry_policy policy_;
  obs::counters* counters_;
  worker_t worker_;
  [[no_unique_address]] Relax relax_;
};

}  // namespace cairn::tm
