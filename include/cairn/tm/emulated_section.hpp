// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/tm/hardware_section.hpp>
#include <cairn/tm/word_lock.hpp>

namespace cairn::tm {

/// The cells that a section has written but not yet published.
class write_buffer {
 public:
  /// capacity  maximum number of cells; it emulates the limit of hardware
  explicit write_buffer(std::size_t capacity) : capacity_(capacity) {}

  template <cell_value T>
  [[nodiscard]] T load(T& cell) const noexcept {
    if (const auto* e = find(&cell)) {
      return std::bit_cast<T>(static_cast<detail::word_of<T>>(e->bits));
    }
    return detail::direct_access::load(cell);
  }

  /// Throws    leave (capacity) when the buffer is full
  template <cell_value T>
  void store(T& cell, const T& value) {
    const std::uint64_t bits = std::bit_cast<detail::word_of<T>>(value);
    if (auto* e = find(&cell)) {
      CAIRN_ASSERT(e->write == &write<T>);
      e->bits = bits;
    } else if (entries_.size() < capacity_) {
      entries_.push_back({&cell, bits, &write<T>});
    } else {
      overflowed_ = true;
      throw_overflow();
    }
  }
  /// Called at the commit: the body may have caught what store() threw.
  void expect_complete() const {
    if (overflowed_) throw_overflow();
  }

  void apply() const noexcept {
    for (const auto& e : entries_) e.write(e.cell, e.bits);
  }
  void clear() noexcept {
    entries_.clear();
    overflowed_ = false;
  }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct entry {
    void* cell;
    std::uint64_t bits;
    void (*write)(void*, std::uint64_t) noexcept;
  };

  template <cell_value T>
  static void write(void* cell, std::uint64_t bits) noexcept {
    detail::direct_access::store(*static_cast<T*>(cell),
                                 std::bit_cast<T>(static_cast<detail::word_of<T>>(bits)));
  }

  [[noreturn]] static void throw_overflow() {
    throw leave{attempt_outcome::abort(abort_cause::capacity)};
  }

  // Sections are short, so a linear search is faster than a table.
  [[nodiscard]] const entry* find(const void* cell) const noexcept {
    for (const auto& e : entries_) {
      if (e.cell == cell) return &e;
    }
    return nullptr;
  }
  [[nodiscard]] entry* find(const void* cell) noexcept {
    return const_cast<entry*>(std::as_const(*this).find(cell));
  }

  std::size_t capacity_;
  std::vector<entry> entries_;
  bool overflowed_ = false;
};

/// Writes go to a buffer, and reads see them.
class buffered_access {
 public:
  static constexpr bool indivisible = false;

  explicit buffered_access(write_buffer& buffer) noexcept : buffer_(&buffer) {}
  template <cell_value T>
  [[nodiscard]] T load(T& cell) const noexcept {
    return buffer_->load(cell);
  }
  template <cell_value T>
  void store(T& cell, const T& value) const {
    buffer_->store(cell, value);
  }

 private:
  write_buffer* buffer_;
};

/// State that the emulated sections of all workers share. One section runs at a time.
struct emulation {
  word_lock running;
  std::size_t capacity = 512;           ///< maximum number of cells that a section writes
  std::function<void(unsigned)> relax;  ///< called while another worker's section runs
};

/// Emulates hardware transactions. Sections run one at a time and write at the commit, so an abort
/// leaves no trace, and a reader outside never sees a value that is undone later. Correct but slow;
/// for tests on threads.
///
/// Other writers of the same cells must write in outside(), because the emulation does not detect
/// them as real hardware does.
class emulated_hardware {
 public:
  using access = buffered_access;
  static constexpr bool aborts_by_exception = true;

  /// `shared` outlives this object and is the same for all workers.
  explicit emulated_hardware(emulation& shared) : shared_(&shared), buffer_(shared.capacity) {}

  attempt_outcome begin() {
    shared_->running.lock(shared_->relax);
    return attempt_outcome::success();
  }
  attempt_outcome commit() {
    buffer_.expect_complete();
    buffer_.apply();
    cancel();
    return attempt_outcome::success();
  }
  template <abort_code Code>
  [[noreturn]] void abort() {
    throw leave{attempt_outcome::abort(abort_cause::explicit_, Code)};
  }
  void cancel() noexcept {
    buffer_.clear();
    shared_->running.unlock();
  }
  access cell_access() noexcept { return access(buffer_); }
  template <class F>
  void outside(F&& f) {
    shared_->running.lock(shared_->relax);
    const std::lock_guard held(shared_->running, std::adopt_lock);
    std::forward<F>(f)();
  }

 private:
  emulation* shared_;
  write_buffer buffer_;
};

static_assert(hardware<emulated_hardware>);

}  // namespace cairn::tm
