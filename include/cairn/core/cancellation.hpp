// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <cairn/core/gathered_parts.hpp>

namespace cairn {

/// Decides for one rank at which collective all ranks stop after a request to cancel, and which
/// packets belong to the calls before.
///
/// A rank numbers the collectives that it begins. When it is asked to cancel, or another rank's
/// announcement arrives, it announces to all ranks that it will not begin its next collective, and
/// it begins no more. No rank can complete a collective that another rank has not begun, so each
/// rank stops in the least announced collective, or before it. Then it restarts: the numbering
/// begins again, in a new generation. The first collective of a generation agrees on used_numbers;
/// no request stops it.
///
///   state      entered by                  may begin   announces
///   running    restart()                   yes         nothing
///   stopping   request(),                  no          its next collective, unless an earlier one
///              receive_announcement()                  is already announced
///   stopped    the last collective begun is the announced one or a later one: it will not complete
///
/// A pure state machine: it neither sends nor waits. The caller sends each announcement() to all
/// other ranks before it stops, and passes theirs to receive_announcement().
///
/// Thread-safety: request() in any thread and in a signal handler; the const functions in any
///                thread; the others by one thread at a time
class cancellation {
 public:
  /// Called when this rank is asked to cancel.
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  /// Whether this rank must stop its loops and begin no collective.
  [[nodiscard]] bool stopping() const noexcept {
    return requested_.load(std::memory_order_relaxed) ||
           stop_at_.load(std::memory_order_relaxed) != never;
  }
  /// Whether the last collective that this rank began will never complete, unless it has completed.
  [[nodiscard]] bool stopped() const noexcept {
    return stop_at_.load(std::memory_order_acquire) <= begun_.load(std::memory_order_relaxed);
  }

  /// Collectives that this rank has begun in this generation.
  [[nodiscard]] std::uint64_t begun() const noexcept {
    return begun_.load(std::memory_order_relaxed);
  }
  /// Called when this rank begins its next collective.
  void begin() noexcept { begun_.fetch_add(1, std::memory_order_relaxed); }

  /// A collective that this rank will not begin, if it must now announce one to all other ranks.
  [[nodiscard]] std::optional<std::uint64_t> announcement() noexcept {
    const auto next = begun_.load(std::memory_order_relaxed) + 1;
    if (!stopping() || next >= stop_at_.load(std::memory_order_relaxed)) return std::nullopt;
    stop_at_.store(next, std::memory_order_release);
    return next;
  }
  /// Called when another rank announces that it will not begin this collective of this generation.
  void receive_announcement(std::uint64_t collective) noexcept {
    stop_at_.store(std::min(collective, stop_at_.load(std::memory_order_relaxed)),
                   std::memory_order_release);
  }

  /// How often the ranks have stopped together.
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return generation_.load(std::memory_order_relaxed);
  }
  enum class age { old, current, later };
  /// How to treat a packet of that generation: an old one is discarded, a current one is processed,
  /// a later one is kept until this rank restarts.
  [[nodiscard]] age age_of(std::uint32_t packet_generation) const noexcept {
    const auto here = generation();
    if (packet_generation == here) return age::current;
    return packet_generation < here ? age::old : age::later;
  }

  /// Begins a new generation after this rank has stopped. Clears all earlier requests.
  void restart() noexcept {
    generation_.fetch_add(1, std::memory_order_relaxed);
    begun_.store(0, std::memory_order_relaxed);
    stop_at_.store(never, std::memory_order_relaxed);
    requested_.store(false, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::atomic<bool> requested_{false};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint64_t> begun_{0}, stop_at_{never};
};

/// The numbers of epochs and channels that a rank has used. They may differ between ranks at a
/// stop: a rank may have opened another epoch, or constructed other channels, since the last
/// collective. All ranks continue after the largest numbers, so that no number is used twice.
struct used_numbers {
  std::uint64_t epoch = 0, channel = 0;

  /// `parts` holds the bytes of every rank's numbers.
  [[nodiscard]] static used_numbers agreed(const gathered_parts& parts) {
    used_numbers all;
    for (const auto& part : parts) {
      used_numbers of_rank;
      std::memcpy(&of_rank, part.data(), sizeof of_rank);
      all = {std::max(all.epoch, of_rank.epoch), std::max(all.channel, of_rank.channel)};
    }
    return all;
  }
};

}  // namespace cairn
