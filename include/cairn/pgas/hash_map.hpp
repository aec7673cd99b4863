// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>

#include <cairn/am/request.hpp>
#include <cairn/am/slot_table.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/cached_parts.hpp>
#include <cairn/pgas/probing_table.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/promise.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::pgas {

/// Hashes the bytes of a key. For keys without padding whose equal values have equal bytes:
/// integers, bounded_text, arrays of them.
template <class Key>
struct byte_hash {
  static_assert(std::has_unique_object_representations_v<Key>,
                "equal keys must have equal bytes: give the map a hash of your own");
  [[nodiscard]] std::uint64_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = sizeof(Key);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&key);
    for (std::size_t at = 0; at < sizeof(Key); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, std::min<std::size_t>(8, sizeof(Key) - at));
      hash = mix64(hash ^ word);
    }
    return hash;
  }
};

struct hash_map_options {
  std::uint64_t entries = 0;  ///< for which all ranks together have memory initially
};

/// A hash map over all ranks: every task of every rank inserts, finds, changes and erases entries,
/// concurrently. A key's hash determines its owner, which executes the operation: one request and
/// one answer, coalesced with those of other tasks. Each owner's part grows on its own.
///
///   pgas::hash_map<std::uint64_t, std::uint32_t> degrees(world);   // collective
///   ... in a task:
///   const bool is_new = co_await degrees.insert(v, 3);
///   const std::optional<std::uint32_t> d = co_await degrees.find(u);
///
/// Key, Value     trivially copyable, aligned to at most 16 bytes; Key has ==. For texts see
///                bounded_text
/// Hash           of a key: 64 bits, the same on every rank; std::hash of integers will do
/// Order          operations on one key are linearizable; awaited ones of a task take effect in
///                their order
/// Collective     constructor, destructor, size(). A map used in a cancelled run may only be
///                destroyed: operations of destroyed tasks may still arrive
/// Thread-safety  tasks of all workers
/// Messages       two per operation on a key of another rank
/// Memory         each of 64 shards of an owner: 16 entries, or up to 2.7 per key that it has held
///                at once; while it grows also its old half
/// Throws         system_failure from the constructor and from insert() if there is no memory; if a
///                part grows for another rank, that poisons the world
/// Source         [GMT14] section V.D; there tasks access a map by get, put and compare-and-swap
template <class Key, class Value, class Hash = byte_hash<Key>>
class hash_map {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>,
                "keys and values travel as their bytes");
  enum class verb : std::uint8_t { insert, find, update, erase };
  struct question {
    Key key;
    Value value;
    verb action;
  };
  struct answer {
    Value value;
    bool found;
  };
  using ticketed_question = typename am::request<question, answer>::ticketed_question;
  struct answer_target {
    answer* into;
    task::suspended waiter;
    std::uint32_t generation;
  };

 public:
  explicit hash_map(world& w, const hash_map_options& opt = {})
      : world_(w),
        tasks_(w.tasks()),
        alone_(w.handling_threads() == 1),
        shards_(opt.entries, w.size()),
        answer_targets_(w.handling_threads()),
        ask_(
            w,
            [this](worker_t k, rank_t from, std::span<const ticketed_question> batch) {
              answer_all(k, from, batch);
            },
            [this](worker_t k, std::uint64_t slot, const answer& a) { deliver_answer(k, slot, a); },
            {.kind = channel_kind::standing}) {}
  hash_map(const hash_map&) = delete;
  hash_map& operator=(const hash_map&) = delete;

  /// The awaiter that the functions below return.
  template <class Result>
  class [[nodiscard("await it")]] operation {
   public:
    operation(hash_map & map, const question& q) : map_(map), question_(q) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
    [[nodiscard]] bool await_ready() {
      hash_ = Hash{}(question_.key);
      owner_ = map_.owner_of(hash_);
      return is_local() && (!map_.shard_of(hash_).larger_than_cache() || entry().await_ready());
    }
    template <task::task_promise P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) {
      if (is_local()) return entry().await_suspend(h);
      const task::suspended me(h.promise());
      const auto k = me.worker();
      const auto slot = map_.answer_targets_[k].put({&answer_, me, map_.tasks_.generation()});
      map_.ask_.from(k)(owner_, question_, am::slot(slot));
      return std::noop_coroutine();
    }
    Result await_resume() {
      if (is_local()) answer_ = map_.execute(question_, hash_);
      if constexpr (std::is_same_v<Result, bool>) {
        return answer_.found;
      } else {
        return answer_.found ? Result(answer_.value) : std::nullopt;
      }
    }

   private:
    [[nodiscard]] bool is_local() const noexcept { return owner_ == map_.world_.rank(); }
    // Another worker may free the table meanwhile, because it grows.
    [[nodiscard]] task::prefetch entry() const {
      const auto* const address = map_.shard_of(hash_).table.address(mix64(hash_));
      return map_.alone_ ? task::prefetch(address) : task::prefetch::hint(address);
    }

    hash_map& map_;
    question question_;
    answer answer_{};
    std::uint64_t hash_ = 0;
    rank_t owner_ = 0;
  };

  /// Inserts unless the key is there; returns whether it did.
  [[nodiscard]] operation<bool> insert(const Key& key, const Value& value) {
    return {*this, {key, value, verb::insert}};
  }
  /// The value of a key, if it is there.
  [[nodiscard]] operation<std::optional<Value>> find(const Key& key) {
    return {*this, {key, Value{}, verb::find}};
  }
  /// Changes the value of a key that is there; returns the value before.
  [[nodiscard]] operation<std::optional<Value>> update(const Key& key, const Value& value) {
    return {*this, {key, value, verb::update}};
  }
  /// Returns whether the key was there.
  [[nodiscard]] operation<bool> erase(const Key& key) {
    return {*this, {key, Value{}, verb::erase}};
  }

  /// Bytes of this rank's part of a map that is made for `entries` entries on so many ranks.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t entries,
                                           std::same_as<rank_t> auto ranks) noexcept {
    return num_shards * probing_table<Key, Value>::bytes(max_shard_entries(entries, ranks));
  }
  /// Number of entries on all ranks, while no task changes them. Collective.
  [[nodiscard]] std::uint64_t size() {
    std::uint64_t mine = 0;
    for (auto& s : shards_) mine += s.table.size();
    return world_.sum(mine);
  }
  /// Calls f(key, value) for each entry of this rank, while no task changes them.
  template <class F>
  void each_own(F&& f) const {
    for (const auto& s : shards_) s.table.each(f);
  }
  [[nodiscard]] rank_t owner(const Key& key) const noexcept { return owner_of(Hash{}(key)); }

 private:
  // Workers that change different shards do not wait for each other.
  static constexpr std::size_t num_shards = 64;
  struct shard {
    task::spin_lock guard;
    probing_table<Key, Value> table;
    [[nodiscard]] bool larger_than_cache() const noexcept {
      return cached_parts().likely(num_shards * table.bytes()) != task::likely_in::own_cache;
    }
  };
  [[nodiscard]] rank_t owner_of(std::uint64_t hash) const noexcept {
    // Also spreads small numbers, by bits other than those of mix64(), which select the shard.
    const auto spread = hash * 0x9e3779b97f4a7c15;
    return static_cast<rank_t>(
        static_cast<uint128_t>(spread) * static_cast<std::uint64_t>(world_.size()) >> 64);
  }
  [[nodiscard]] shard& shard_of(std::uint64_t hash) noexcept { return shards_[mix64(hash) >> 58]; }

  // The shards allocate before the channel opens, because questions may arrive from then on.
  struct shard_array : std::array<shard, num_shards> {
    shard_array(std::uint64_t entries, rank_t ranks) {
      if (entries == 0) return;
      for (auto& s : *this) s.table.reserve(max_shard_entries(entries, ranks));
    }
  };

  // The mean plus four standard deviations, which almost no shard exceeds.
  static std::size_t max_shard_entries(std::uint64_t entries, rank_t ranks) noexcept {
    const auto mean = static_cast<double>(entries) / (static_cast<double>(ranks) * num_shards);
    return static_cast<std::size_t>(mean + 4 * std::sqrt(mean)) + 1;
  }

  answer execute(const question& q, std::uint64_t hash) {
    const auto of_rank = mix64(hash);
    auto& s = shard_of(hash);
    std::unique_lock held(s.guard, std::defer_lock);
    if (!alone_) held.lock();
    switch (q.action) {
      case verb::insert:
        if (!alone_ && s.table.must_grow_to() != 0) [[unlikely]]
          grow(s, held);
        return {Value{}, s.table.insert(of_rank, q.key, q.value)};
      case verb::erase:
        return {Value{}, s.table.erase(of_rank, q.key)};
      case verb::find:
      case verb::update:
        break;
    }
    auto* const value = s.table.find(of_rank, q.key);
    if (value == nullptr) return {Value{}, false};
    const answer found{*value, true};
    if (q.action == verb::update) *value = q.value;
    return found;
  }
  // Takes the memory, and gives back the memory before, while others use the shard.
  [[gnu::noinline]] static void grow(shard& s, std::unique_lock<task::spin_lock>& held) {
    while (const auto capacity = s.table.must_grow_to()) {
      held.unlock();
      auto memory = s.table.memory_for(capacity);
      held.lock();
      if (s.table.must_grow_to() == capacity) s.table.grow(memory);  // no other worker was faster
      held.unlock();
      memory = {};
      held.lock();
    }
  }
  // Fetches the entries of later questions while it answers earlier ones.
  void answer_all(worker_t k, rank_t from, std::span<const ticketed_question> batch) {
    constexpr std::size_t ahead = 12;
    std::array<std::uint64_t, 16> hashes;
    const auto fetch = [&](std::size_t j) {
      const auto hash = hashes[j % hashes.size()] = Hash{}(batch[j].question.key);
      __builtin_prefetch(shard_of(hash).table.address(mix64(hash)));
    };
    for (std::size_t j = 0; j < std::min(ahead, batch.size()); ++j) fetch(j);
    auto send = ask_.answer_from(k);
    for (std::size_t j = 0; j < batch.size(); ++j) {
      if (j + ahead < batch.size()) fetch(j + ahead);
      send(from, batch[j].by, execute(batch[j].question, hashes[j % hashes.size()]));
    }
  }
  void deliver_answer(worker_t k, std::uint64_t slot, const answer& a) {
    const auto l = answer_targets_[k].take(slot);
    if (l.generation != tasks_.generation()) return;
    *l.into = a;
    tasks_.ready(k, l.waiter);
  }

  world& world_;
  task::scheduler& tasks_;
  const bool alone_;  // one thread changes the tables
  shard_array shards_;
  task::per_worker<am::slot_table<answer_target>> answer_targets_;
  am::request<question, answer> ask_;
};

}  // namespace cairn::pgas
