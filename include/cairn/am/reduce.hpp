// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

// The stage of the message path that lets fewer messages travel, at the sender and at hops. Two
// policies: mirror_table drops what cannot take effect any more, combine_table and partial_array
// combine messages with equal key. All are of one worker, take no lock, and allocate at first use.

namespace cairn::am {

/// What became of an offered message, and what the ledger's counts become by it:
///
///             the message                                       at the sender   at a hop
///   passed    goes on                                           sent + 1        as they are
///   merged    ends here: what is kept, or was sent before,      as they are     handled + 1
///             stands for it
///   kept      is in the table; drain() gives it out             sent + 1        as they are
///   evicted   is in the table; another one left it and goes on  sent + 1        as they are
///
/// What drain() or an eviction gives out has been counted and changes no count.
enum class offered { passed, merged, kept, evicted };

namespace detail {

/// Where the entry of a key is: at the key itself if all keys fit, else where its hash falls.
class slot_map {
 public:
  slot_map() = default;
  slot_map(std::size_t entries, std::uint64_t keys)
      : dense_(keys <= entries), slots_(dense_ ? keys : std::bit_floor(entries)) {}

  [[nodiscard]] bool dense() const noexcept { return dense_; }
  [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
  [[nodiscard]] std::size_t operator()(std::uint64_t key) const noexcept {
    return dense_ ? key : mix64(key) & (slots_ - 1);
  }

 private:
  bool dense_ = true;
  std::size_t slots_ = 0;
};

/// An array for random access, on huge pages where T allows it.
template <class T>
using slots_of =
    std::conditional_t<std::is_trivially_copyable_v<T>, hw::page_buffer<T>, std::vector<T>>;

}  // namespace detail

/// The policy *drop*: a bounded cache of mirrors of remote cells, that is of what has been sent to
/// each through this table.
///
/// A mirror starts as the cell does and takes each message before it is sent. A message that the
/// mirror refuses cannot take effect at the owner either, because the cell there sees at least
/// what the mirror has. Two keys may share a mirror; the newcomer evicts, which only costs
/// messages.
///
/// Forgets   forget() exists; it costs noting which mirrors are in use
/// Memory    at most `entries` * (sizeof(Mirror) + 9) bytes, or sizeof(Mirror) + 1 per key
template <class Mirror, bool Forgets = true>
class mirror_table {
 public:
  mirror_table() = default;
  explicit mirror_table(std::size_t entries) : entries_(entries) {}

  /// False with no entries: such a table takes no messages.
  [[nodiscard]] bool enabled() const noexcept { return entries_ != 0; }

  /// passed or merged (that is, dropped). The policy says
  ///
  ///   key(m)             whose mirror, below keys()
  ///   keys(), initial()  how many keys there are, how a mirror starts: asked once
  ///   offer(mirror, m)   false, and changes nothing, if m cannot take effect; else the mirror
  ///                      takes m as the cell would
  ///
  /// Inlined, because a search calls it for each edge to another rank.
  template <class Policy, class Message>
  [[nodiscard, gnu::always_inline]] offered offer(const Policy& policy, const Message& m) {
    if (mirrors_.empty()) [[unlikely]] {
      allocate(policy.keys(), policy.initial());
    }
    const std::uint64_t key = policy.key(m);
    auto slot = key;
    if (!ids_.empty()) {
      slot = map_(key);
      if (ids_[slot] != key) {
        ids_[slot] = key;
        mirrors_[slot] = initial_;
      }
    }
    if constexpr (Forgets) {
      if (used_.size() < most_noted()) used_.push_back(slot);
    }
    return policy.offer(mirrors_[slot], m) ? offered::passed : offered::merged;
  }

  /// All mirrors start again.
  void forget() requires Forgets {
    if (used_.size() < most_noted()) {
      for (auto slot : used_) mirrors_[slot] = initial_;
    } else {
      std::fill(mirrors_.begin(), mirrors_.end(), initial_);
    }
    used_.clear();
  }

 private:
  [[gnu::noinline]] void allocate(std::uint64_t keys, const Mirror& initial) {
    CAIRN_ASSERT(entries_ != 0);
    initial_ = initial;
    map_ = detail::slot_map(entries_, keys);
    mirrors_ = hw::page_buffer<Mirror>(map_.slots());
    std::fill(mirrors_.begin(), mirrors_.end(), initial);
    if (map_.dense()) return;
    ids_ = hw::page_buffer<std::uint64_t>(map_.slots());
    std::fill(ids_.begin(), ids_.end(), ~std::uint64_t{0});
  }
  // From so many on it is as cheap to forget all.
  [[nodiscard]] std::size_t most_noted() const noexcept { return 1 + mirrors_.size() / 8; }

  std::size_t entries_ = 0;
  detail::slot_map map_;
  Mirror initial_{};
  hw::page_buffer<Mirror> mirrors_;
  hw::page_buffer<std::uint64_t> ids_;  // whose mirror; empty if there is one for each key
  std::vector<std::uint64_t> used_;
};

/// The policy *combine*: keeps one message per key and merges those with equal key into it.
///
/// Two keys may share an entry, unless all keys fit; the newcomer evicts, and the evicted message
/// goes on. So each kept message leaves exactly once, by an eviction or by drain().
///
/// Message   movable and default-constructible; need not be trivially copyable
/// Memory    at most `entries` messages and as many bits
template <class Message>
class combine_table {
 public:
  combine_table() = default;
  /// entries   0: every message passes
  /// keys      how many there are; if at most `entries`, none is ever evicted
  combine_table(std::size_t entries, std::uint64_t keys) : entries_(entries), map_(entries, keys) {}

  /// Takes m in, unless there are no entries. Gives what goes on to out(Message&&): m itself if it
  /// passed, the other message if one was evicted. The policy says
  ///
  ///   key(m)                below the number of keys
  ///   combine(kept, m)      makes `kept` stand for both; m is an rvalue
  template <class Policy, class Out>
  offered offer(const Policy& policy, Message m, Out&& out) {
    if (entries_ == 0) {
      out(std::move(m));
      return offered::passed;
    }
    if (present_.empty()) [[unlikely]] {
      allocate();
    }
    const std::uint64_t key = policy.key(std::as_const(m));
    const auto slot = map_(key);
    auto& kept = messages_[slot];
    auto& word = present_[slot / 64];
    const auto bit = std::uint64_t{1} << slot % 64;
    if ((word & bit) == 0) {
      word |= bit;
      kept = std::move(m);
      return offered::kept;
    }
    if (map_.dense() || policy.key(std::as_const(kept)) == key) {
      policy.combine(kept, std::move(m));
      return offered::merged;
    }
    out(std::exchange(kept, std::move(m)));
    return offered::evicted;
  }

  /// Messages that are kept. O(entries / 64).
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t kept = 0;
    for (const auto word : present_) kept += static_cast<std::size_t>(std::popcount(word));
    return kept;
  }

  /// How many parts drain_part() takes the table in; 0 before anything was kept.
  [[nodiscard]] std::size_t parts() const noexcept { return present_.size(); }

  /// Gives each message that is kept in part i, of up to 64, to out(Message&&) and keeps it no
  /// longer. Workers may drain different parts at the same time.
  template <class Out>
  void drain_part(std::size_t i, Out&& out) {
    for (auto left = std::exchange(present_[i], 0); left != 0; left &= left - 1) {
      out(std::exchange(messages_[64 * i + static_cast<std::size_t>(std::countr_zero(left))], {}));
    }
  }
  /// Gives each kept message to out(Message&&) once; then none is kept.
  template <class Out>
  void drain(Out&& out) {
    for (std::size_t i = 0; i < parts(); ++i) drain_part(i, out);
  }

 private:
  void allocate() {
    messages_ = detail::slots_of<Message>(map_.slots());
    present_.assign((map_.slots() + 63) / 64, 0);
  }

  std::size_t entries_ = 0;
  detail::slot_map map_;
  detail::slots_of<Message> messages_;
  std::vector<std::uint64_t> present_;  // a bit per entry
};

/// The policy *combine* for values of all elements: an array that starts from the identity. It
/// costs one combination per value, because it notes nothing else.
///
/// It reports nothing, so the ledger cannot count what enters. Its values count as sent when they
/// are drained, and its user holds the epoch until then or drains in a later one.
///
/// A         values are trivially copyable, equality comparable, or packable: those equal to the
///           identity are not given out
template <aggregator A>
class partial_array {
 public:
  using value_type = typename A::value_type;

  partial_array() = default;
  explicit partial_array(std::size_t n) : values_(n) {
    std::fill(values_.begin(), values_.end(), A::identity());
  }

  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] value_type* data() noexcept { return values_.data(); }

  /// What was combined for element i; then the identity is there again.
  [[nodiscard]] value_type take(std::size_t i) { return std::exchange(values_[i], A::identity()); }

  /// Whether x adds nothing. May be false for an identity that is represented otherwise.
  [[nodiscard]] static bool is_identity(const value_type& x) {
    const value_type nothing = A::identity();
    if constexpr (std::is_trivially_copyable_v<value_type>) {
      return std::memcmp(&x, &nothing, sizeof x) == 0;
    } else if constexpr (std::equality_comparable<value_type>) {
      return x == nothing;
    } else {
      return packed(x) == packed(nothing);
    }
  }

 private:
  detail::slots_of<value_type> values_;
};

}  // namespace cairn::am
