// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <cairn/am/ticket.hpp>
#include <cairn/base/types.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/allocation.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::pgas {

/// Which elements of a part are full, and which tasks wait for empty ones.
class full_empty {
 public:
  struct taker {
    rank_t from;
    am::ticket by;
    std::uint32_t generation;  // of its task (progress_engine::task_generation)
  };

  explicit full_empty(std::uint64_t elements) : full_((elements + 63) / 64) {}

  /// Empties element i and returns whether it was full; otherwise t waits for it. Takers of earlier
  /// generations no longer wait for it, and are appended to `destroyed`.
  bool take(std::uint64_t i, const taker& t, std::vector<taker>& destroyed) {
    if (auto& word = full_[i / 64]; (word >> i % 64 & 1) != 0) {
      word &= ~(std::uint64_t{1} << i % 64);
      return true;
    }
    auto& takers = waiting_[i];
    remove_destroyed(takers, t.generation, destroyed);
    takers.push_back(t);
    return false;
  }
  /// Element i has a new value: the taker of generation `now` that has waited longest gets it;
  /// otherwise i is full.
  std::optional<taker> fill(std::uint64_t i, std::uint32_t now, std::vector<taker>& destroyed) {
    std::optional<taker> first;
    if (const auto found = waiting_.find(i); found != waiting_.end()) {
      auto& takers = found->second;
      remove_destroyed(takers, now, destroyed);
      if (!takers.empty()) {
        first = takers.front();
        takers.pop_front();
      }
      if (takers.empty()) waiting_.erase(found);
    }
    if (!first) full_[i / 64] |= std::uint64_t{1} << i % 64;
    return first;
  }
  [[nodiscard]] std::vector<taker> all_takers() const {
    std::vector<taker> all;
    for (const auto& [i, takers] : waiting_) all.insert(all.end(), takers.begin(), takers.end());
    return all;
  }

  task::spin_lock guard;  // the caller holds it, while it also reads or writes the element

 private:
  // Takers wait in the order of their generations.
  static void remove_destroyed(std::deque<taker>& from, std::uint32_t now,
                               std::vector<taker>& destroyed) {
    for (; !from.empty() && from.front().generation != now; from.pop_front()) {
      destroyed.push_back(from.front());
    }
  }

  std::vector<std::uint64_t> full_;
  std::unordered_map<std::uint64_t, std::deque<taker>> waiting_;
};

/// Of which array a part is. Threads that answer look while others show and hide the part.
template <template <class> class Atomic = std::atomic>
struct part_owner {
  Atomic<std::uint16_t> generation{0};  // 0: of no array

  [[nodiscard]] bool belongs_to(const array_id& id) const noexcept {
    return id.generation != 0 && generation.load() == id.generation;
  }
  /// belongs_to() for the id of an array that had this part when the caller found it. Finding it
  /// has acquired the members.
  [[nodiscard]] bool still_belongs_to(const array_id& id) const noexcept {
    return generation.load(std::memory_order_relaxed) == id.generation;
  }
  void show(const array_id& id) noexcept { generation.store(id.generation); }
  void hide() noexcept { generation.store(0); }
};

/// A rank's part of a global array. Members that are not atomic change only while no array has the
/// part.
struct array_part : part_owner<> {
  task::likely_in likely = {};  // where its elements probably are
  std::byte* data = nullptr;
  std::uint64_t size = 0;  // elements here
  std::uint32_t element_bytes = 0;
  array_shape shape;
  hw::page_buffer<std::byte> memory;
  std::unique_ptr<full_empty> states;  // if the shape requires them

  [[nodiscard]] std::byte* element(std::uint64_t offset) const noexcept {
    return data + offset * element_bytes;
  }
};

/// Tells when the answers in progress have ended. After a cancellation, questions of destroyed
/// tasks may still be answered, so what a dropped part held is freed only then.
///
/// Atomic    of the counts; tests substitute one whose every access is a step of a schedule
template <template <class> class Atomic = std::atomic>
class answers_in_progress {
  using count = Atomic<std::uint64_t>;

 public:
  explicit answers_in_progress(int threads) : begun_or_ended_(threads) {}

  /// While it lives, thread k may use every part that it finds.
  class answering {
   public:
    answering(answers_in_progress& all, worker_t k) : count_(all.begun_or_ended_[k]) {
      // Before the thread looks for a part: all stores and loads here are in one order.
      count_.store(count_.load(std::memory_order_relaxed) + 1);
    }
    ~answering() {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    answering(const answering&) = delete;
    answering& operator=(const answering&) = delete;

   private:
    count& count_;
  };

  /// Called by thread k, which answers nothing, after a part was hidden.
  ///
  /// relax     called with 0, 1, ... while another thread answers
  template <class Relax>
  void wait_for_others(worker_t k, Relax&& relax) const {
    for (worker_t other{0}; other < begun_or_ended_.workers(); ++other) {
      const auto& of = begun_or_ended_[other];
      const auto seen = of.load();
      for (unsigned rounds = 0; other != k && seen % 2 != 0 && of.load() == seen; ++rounds) {
        relax(rounds);
      }
    }
  }
  void wait_for_others(task::pool& pool, worker_t k) const {
    wait_for_others(k, [&](unsigned rounds) { pool.relax(rounds); });
  }

 private:
  task::per_worker<count> begun_or_ended_;  // odd: a thread answers
};

/// Finds a rank's part of an array by id, also while other parts are made and dropped.
///
/// Parts do not move, and stay until the table ends, so that an id that was freed is recognised.
/// Memory    8 bytes per rank; 2 KiB per rank that has allocated, and about 160 bytes per slot that
///           it has used, by 256 slots
/// Thread-safety: part() on any thread; at() by one thread at a time for an id
class array_table {
 public:
  explicit array_table(rank_t ranks) : creators_(static_cast<std::size_t>(ranks)) {}
  ~array_table() {
    for (auto& c : creators_) {
      auto* const d = c.load(std::memory_order_relaxed);
      if (d == nullptr) continue;
      for (auto& s : *d) delete s.load(std::memory_order_relaxed);
      delete d;
    }
  }
  array_table(const array_table&) = delete;
  array_table& operator=(const array_table&) = delete;

  /// The part of an array; nullptr if this rank has none under this id.
  [[nodiscard]] array_part* part(const array_id& id) const noexcept {
    if (id.creator >= creators_.size()) return nullptr;
    const auto* const d = creators_[id.creator].load(std::memory_order_acquire);
    if (d == nullptr) return nullptr;
    auto* const s = (*d)[id.slot / segment_slots].load(std::memory_order_acquire);
    if (s == nullptr) return nullptr;
    auto& p = (*s)[id.slot % segment_slots];
    return p.belongs_to(id) ? &p : nullptr;
  }
  /// The place for a part.
  [[nodiscard]] array_part& at(const array_id& id) {
    auto& s = made(made(creators_[id.creator])[id.slot / segment_slots]);
    return s[id.slot % segment_slots];
  }

 private:
  static constexpr std::size_t segment_slots = 256;
  using segment = std::array<array_part, segment_slots>;
  using directory = std::array<std::atomic<segment*>, 65'536 / segment_slots>;

  template <class T>
  T& made(std::atomic<T*>& at) {
    auto* found = at.load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    const std::lock_guard held(guard_);
    found = at.load(std::memory_order_relaxed);
    if (found == nullptr) at.store(found = new T(), std::memory_order_release);
    return *found;
  }

  std::vector<std::atomic<directory*>> creators_;
  task::spin_lock guard_;
};

}  // namespace cairn::pgas
