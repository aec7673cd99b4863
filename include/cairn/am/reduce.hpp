// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/packing.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/pages.hpp>

// The stage of the message path that reduces the number of messages, at the sender and at hops.
// There are two policies: mirror_table, sent_marks and shared_mirrors drop messages that cannot
// take effect any more; combine_table (combine_table.hpp) and partial_array combine messages with
// equal keys. Each object belongs to one worker and takes no lock. Tables and marks allocate at
// first use.

namespace cairn::am {

/// What became of an offered message, and how it changes the counts of the ledger:
///
///             the message                                       at the sender   at a hop
///   passed    goes on                                           sent + 1        unchanged
///   merged    ends here; a kept message, or one sent before,    unchanged       handled + 1
///             represents it
///   kept      is in the table; drain() gives it out             sent + 1        unchanged
///   evicted   is in the table; another one left it and goes on  sent + 1        unchanged
///
/// Messages from drain() or an eviction have been counted before and change no count.
enum class offered { passed, merged, kept, evicted };

/// keys      number of keys
struct table_size {
  std::size_t entries;
  std::uint64_t keys;
};

namespace detail {

/// The slot of a key's entry: the key itself if all keys fit, else given by its hash.
class slot_map {
 public:
  slot_map() = default;
  explicit slot_map(const table_size& size)
      : dense_(size.keys <= size.entries),
        slots_(dense_ ? size.keys : std::bit_floor(size.entries)) {}

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

/// The policy *drop*: a bounded cache of mirrors of remote cells. A mirror records what has been
/// sent to its cell through this table.
///
/// A mirror starts in the initial state of its cell and applies each message before it is sent. A
/// message that the mirror refuses cannot take effect at the owner either, because the cell there
/// sees at least what the mirror has seen. Two keys may share a mirror; the new key evicts the old
/// one, which only costs additional messages.
///
/// Forgets   whether forget() exists; it costs recording which mirrors are in use
/// Memory    at most `entries` * (sizeof(Mirror) + 9) bytes, or sizeof(Mirror) + 1 per key
template <class Mirror, bool Forgets = true>
class mirror_table {
 public:
  mirror_table() = default;
  explicit mirror_table(std::size_t entries) : entries_(entries) {}

  /// False if the table has no entries. Such a table must not be offered messages.
  [[nodiscard]] bool enabled() const noexcept { return entries_ != 0; }

  /// Returns passed, or merged if the message is dropped. The policy has
  ///
  ///   key(m)             the key of the mirror for m, below keys()
  ///   keys(), initial()  the number of keys, the initial state of a mirror: called once
  ///   offer(mirror, m)   returns false and changes nothing if m cannot take effect; else applies m
  ///                      to the mirror as to the cell
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
      if (used_.size() < max_noted()) used_.push_back(slot);
    }
    return policy.offer(mirrors_[slot], m) ? offered::passed : offered::merged;
  }

  /// Resets all mirrors to their initial state.
  void forget() requires Forgets {
    if (used_.size() < max_noted()) {
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
    map_ = detail::slot_map({.entries = entries_, .keys = keys});
    // First, because offer() takes mirrors without ids for one per key.
    if (!map_.dense() && ids_.empty()) {
      ids_ = hw::page_buffer<std::uint64_t>(map_.slots());
      std::fill(ids_.begin(), ids_.end(), ~std::uint64_t{0});
    }
    mirrors_ = hw::page_buffer<Mirror>(map_.slots());
    std::fill(mirrors_.begin(), mirrors_.end(), initial);
  }
  // From this number on it is as cheap to reset all mirrors.
  [[nodiscard]] std::size_t max_noted() const noexcept { return 1 + mirrors_.size() / 8; }

  std::size_t entries_ = 0;
  detail::slot_map map_;
  Mirror initial_{};
  hw::page_buffer<Mirror> mirrors_;
  hw::page_buffer<std::uint64_t> ids_;  // key of each mirror; empty if there is one per key
  std::vector<std::uint64_t> used_;
};

/// The policy *drop* where the first message to each key is the only one that can take effect.
///
/// Memory    a byte per key. Bits would be smaller, but a test of one often waits for the store of
///           another in the same word
class sent_marks {
 public:
  sent_marks() = default;
  /// max_bytes   the largest number of marks, which is also the largest number of keys
  explicit sent_marks(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Allocates marks for so many keys at the first call. Returns false if they exceed the bound.
  [[nodiscard, gnu::always_inline]] bool reserve(std::uint64_t keys) {
    if (!sent_.empty()) [[likely]]
      return true;
    if (keys > max_bytes_) return false;
    allocate(keys);
    return true;
  }
  /// Returns passed for the first message to `key`, else merged.
  [[nodiscard, gnu::always_inline]] offered offer(std::uint64_t key) {
    if (sent_[key]) return offered::merged;
    sent_[key] = true;
    return offered::passed;
  }

 private:
  [[gnu::noinline]] void allocate(std::uint64_t keys) {
    sent_ = hw::page_buffer<bool>(keys);
    std::fill(sent_.begin(), sent_.end(), false);
  }

  std::size_t max_bytes_ = 0;
  hw::page_buffer<bool> sent_;
};

/// The policy *drop* for all workers of all ranks of a machine together: one mirror per key, in
/// memory that they share. A message that any of them has sent represents those that it makes
/// useless, so that ranks beside each other send what one rank would send.
///
/// Only for mirrors that are never reset while messages may be offered, and not at hops: the mirror
/// already shows a message that is on its way.
///
/// A copy of the mirror takes the message and is written back, without a lock. If two workers do
/// this at once, the mirror shows the messages of one of them, which both have sent.
///
/// Mirror    trivially copyable, of 1, 2, 4 or 8 bytes
template <class Mirror>
class shared_mirrors {
 public:
  shared_mirrors() = default;
  explicit shared_mirrors(std::span<Mirror> by_key) : mirrors_(by_key) {}

  [[nodiscard]] bool enabled() const noexcept { return !mirrors_.empty(); }

  /// As that of mirror_table, without keys() and initial().
  template <class Policy, class Message>
  [[nodiscard, gnu::always_inline]] offered offer(const Policy& policy, const Message& m) {
    const std::atomic_ref<Mirror> shared(mirrors_[policy.key(m)]);
    Mirror mirror = shared.load(std::memory_order_relaxed);
    if (!policy.offer(mirror, m)) return offered::merged;
    shared.store(mirror, std::memory_order_relaxed);
    return offered::passed;
  }

 private:
  std::span<Mirror> mirrors_;
};

/// The policy *combine* for values of all elements: an array that starts with identities. It costs
/// one combination per value, because it records nothing else.
///
/// It reports nothing, so the ledger cannot count what enters. Its values count as sent when they
/// are drained. Its user holds the epoch until then, or drains in a later one.
///
/// A         its values are trivially copyable, equality comparable, or packable; is_identity()
///           tells which values need not be given out
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

  /// Returns the combined value of element i and resets it to the identity.
  [[nodiscard]] value_type take(std::size_t i) { return std::exchange(values_[i], A::identity()); }

  /// Whether x adds nothing. May be false for an identity with a different representation.
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
