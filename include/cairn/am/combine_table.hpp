// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/am/capacity_choice.hpp>
#include <cairn/am/reduce.hpp>

namespace cairn::am {

/// The policy *combine*: keeps one message per key and merges those with equal key into it.
///
/// Two keys may share an entry, unless all keys fit. The new message evicts the old one, which is
/// forwarded. So each kept message leaves exactly once, by an eviction or by drain(). The number of
/// entries of such a table is chosen, and messages bypass it if few of them have equal keys
/// (capacity_choice.hpp).
///
/// Message   movable and default-constructible; need not be trivially copyable
/// Memory    at most `entries` messages and as many bytes
template <class Message>
class combine_table {
 public:
  combine_table() = default;
  /// size        no entries: every message passes; at least as many as keys: none is evicted
  /// of_a_merge  what a merged message saves
  explicit combine_table(const table_size& size,
                         capacity_choice::saving of_a_merge = capacity_choice::saving::small)
      : entries_(size.entries),
        dense_(size.keys <= size.entries),
        choice_(dense_ ? capacity_choice::fixed(size.keys)
                       : capacity_choice(std::bit_floor(size.entries), of_a_merge)) {}

  /// Whether messages are to be offered for now: false if the table has no entries, or if messages
  /// bypass it. A sender calls this once for many messages.
  ///
  /// sent      messages that this worker has sent so far, including those that bypassed the table
  [[nodiscard]] bool offers(std::uint64_t sent) {
    // The counter of a cancelled epoch begins again.
    const auto bypassed = sent - std::min(sent, std::exchange(sent_, sent));
    if (!active_) choice_.bypassed(bypassed);
    return active_ || starts();
  }

  /// Keeps m, unless messages bypass the table. Calls out(Message&&) for each message to forward: m
  /// itself if it bypasses the table, an evicted message, and all kept messages before the number
  /// of entries changes. `out` is copied. The policy has
  ///
  ///   key(m)                below the number of keys
  ///   combine(kept, m)      makes `kept` represent both; m is an rvalue
  template <class Policy, class Out>
  [[gnu::always_inline]] offered offer(const Policy& policy, Message m, const Out& out) {
    count(1);
    return offer_uncounted(policy, std::move(m), out);
  }

  /// As offer(), for loops: the caller counts the offered messages and reports them by count(), at
  /// the latest when it learns that one was not merged. A counter in memory, changed for each
  /// message, would take longer than the rest.
  template <class Policy, class Out>
  [[gnu::always_inline]] offered offer_uncounted(const Policy& policy, Message m, const Out& out) {
    if (!active_ && !starts()) [[unlikely]] {
      out(std::move(m));
      return offered::passed;
    }
    const std::uint64_t key = policy.key(std::as_const(m));
    const auto slot = slot_of(key);
    auto& kept = messages_[slot];
    if (present_[slot] != 0 && policy.key(std::as_const(kept)) == key) [[likely]] {
      policy.combine(kept, std::move(m));
      return offered::merged;
    }
    return enter(key, std::move(m), out);
  }
  void count(std::uint64_t n) noexcept {
    if (active_) {
      choice_.offered(n);
    } else {
      choice_.bypassed(n);
      sent_ += n;
    }
  }

  /// Entries that messages may use now.
  [[nodiscard]] std::size_t entries() const noexcept { return active_ ? choice_.capacity() : 0; }

  /// Number of kept messages. O(entries).
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(std::ranges::count(present_, std::uint8_t{1}));
  }

  /// Number of parts for drain_part(); 0 before the first message was kept.
  [[nodiscard]] std::size_t parts() const noexcept { return (present_.size() + part - 1) / part; }

  /// Removes the kept messages of part i, at most 64, and passes each to out(Message&&). Workers
  /// may drain different parts at the same time.
  template <class Out>
  void drain_part(std::size_t i, Out&& out) {
    const auto end = std::min(part * (i + 1), present_.size());
    for (auto slot = part * i; slot < end; ++slot) {
      if (std::exchange(present_[slot], std::uint8_t{0}) != 0) {
        out(std::exchange(messages_[slot], {}));
      }
    }
  }
  /// Removes all kept messages and passes each to out(Message&&) once.
  template <class Out>
  void drain(Out&& out) {
    for (std::size_t i = 0; i < parts(); ++i) drain_part(i, out);
  }

 private:
  static constexpr std::size_t part = 64;  // no two parts share a cache line of present_

  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const noexcept {
    return (key * multiplier_) >> shift_;
  }
  // Whether messages are offered from now on.
  [[gnu::noinline]] bool starts() {
    if (entries_ == 0 || !choice_.open()) return false;
    allocate();
    return true;
  }
  void allocate() {
    const auto n = choice_.capacity();
    messages_ = detail::slots_of<Message>(n);
    present_.assign(n, 0);
    // The slot of a key is the key itself, else the upper bits of its product with the golden
    // ratio.
    multiplier_ = dense_ ? 1 : n == 1 ? 0 : 0x9e3779b97f4a7c15u;
    shift_ = dense_ || n == 1 ? 0 : 64 - static_cast<int>(std::bit_width(n - 1));
    active_ = true;
  }
  // Not inlined: a load of the whole message, ahead of the comparison of keys, would wait for the
  // store of a part of it that the last combination made. Its arguments are values, because the
  // compiler would store what it could read for each message, merged or not.
  template <class Out>
  [[gnu::noinline]] offered enter(std::uint64_t key, Message m, Out out) {
    if (choice_.changes()) [[unlikely]] {
      drain(out);
      active_ = choice_.open();
      if (!active_) {
        out(std::move(m));
        return offered::passed;
      }
      allocate();
    }
    choice_.entered();
    const auto slot = slot_of(key);
    auto& kept = messages_[slot];
    if (std::exchange(present_[slot], std::uint8_t{1}) == 0) {
      kept = std::move(m);
      return offered::kept;
    }
    out(std::exchange(kept, std::move(m)));
    return offered::evicted;
  }

  std::size_t entries_ = 0;
  bool dense_ = false;
  bool active_ = false;  // there is a table, and messages are offered
  int shift_ = 0;
  std::uint64_t multiplier_ = 0;
  capacity_choice choice_;
  std::uint64_t sent_ = 0;
  detail::slots_of<Message> messages_;
  std::vector<std::uint8_t> present_;
};

}  // namespace cairn::am
