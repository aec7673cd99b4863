// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::tm {

/// The atomic operations of the versioned-lock engine. Tests substitute operations whose every step
/// a schedule player controls (tests/support/stepper.hpp).
///
/// Data is loaded with acquire and stored with release. This orders a store after the acquisition
/// of its word, and a load before the second read of its word, as fences would. On x86 both are
/// plain moves. ThreadSanitizer supports them, but not fences.
struct std_atomics {
  /// Has load, store, compare_exchange_strong and fetch_add of std::atomic; initially 0.
  using word = std::atomic<std::uint64_t>;

  template <cell_value T>
  [[gnu::always_inline]] static T load(T& cell) noexcept {
    return std::atomic_ref<T>(cell).load(std::memory_order_acquire);
  }
  template <cell_value T>
  [[gnu::always_inline]] static void store(T& cell, const T& value) noexcept {
    std::atomic_ref<T>(cell).store(value, std::memory_order_release);
  }
};

/// The value of a version word: free, with the version of the data that it guards; or owned, with
/// the owner and the record in that owner's log.
class version_state {
 public:
  static constexpr std::uint32_t max_owners = 1u << 15;

  constexpr explicit version_state(std::uint64_t bits) noexcept : bits_(bits) {}
  static constexpr version_state free_at(std::uint64_t version) noexcept {
    return version_state(version << 1);
  }
  static constexpr version_state owned_by(std::uint32_t owner, std::size_t record) noexcept {
    return version_state(std::uint64_t{record} << 16 | owner << 1 | 1u);
  }

  [[nodiscard]] constexpr bool owned() const noexcept { return (bits_ & 1) != 0; }
  [[nodiscard]] constexpr bool owned_by(std::uint32_t owner) const noexcept {
    return (bits_ & 0xffff) == (owner << 1 | 1u);
  }
  [[nodiscard]] constexpr std::uint64_t version() const noexcept { return bits_ >> 1; }
  [[nodiscard]] constexpr std::size_t record() const noexcept { return bits_ >> 16; }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

  friend constexpr bool operator==(version_state, version_state) noexcept = default;

 private:
  std::uint64_t bits_;
};

/// State that all transactions over the same data share, wherever the version words are.
template <class Atomics = std_atomics>
struct version_clock {
  /// The version of the last commit.
  alignas(cache_line) typename Atomics::word now{0};
  /// 1 + the owner of the irrevocable transaction (versioned_log::begin_irrevocable), or 0.
  alignas(cache_line) typename Atomics::word irrevocable_owner{0};
};

/// Version words outside the data: a cell's address selects its word. For maps, whose elements have
/// no space for a word.
///
/// The cells of half a cache line share a word. Words are in the order of their cells, so that
/// consecutive cells need few lines of words.
template <class Atomics = std_atomics>
class version_table {
 public:
  using atomics = Atomics;
  using word = typename Atomics::word;
  static constexpr std::size_t stripe_bytes = 32;

  /// words     rounded up to a power of two; 8 bytes each
  /// Throws    contract_violation for no words, or more than 2^31
  explicit version_table(std::size_t words = 1u << 16)
      : mask_(mask_for(words)), words_(std::make_unique<word[]>(mask_ + 1)) {}

  [[nodiscard, gnu::always_inline]] word& word_of(const void* cell) noexcept {
    return words_[reinterpret_cast<std::uintptr_t>(cell) / stripe_bytes & mask_];
  }
  [[nodiscard]] version_clock<Atomics>& clock() noexcept { return clock_; }

  /// The number of owned words; 0 while no transaction runs.
  [[nodiscard]] std::size_t num_owned() const noexcept {
    std::size_t owned = 0;
    for (std::size_t i = 0; i <= mask_; ++i) {
      owned += version_state(words_[i].load(std::memory_order_relaxed)).owned() ? 1 : 0;
    }
    return owned;
  }

 private:
  static std::size_t mask_for(std::size_t words) {
    CAIRN_EXPECTS(words >= 1 && words <= (std::size_t{1} << 31), "1 to 2^31 version words");
    return std::bit_ceil(words) - 1;
  }

  version_clock<Atomics> clock_;
  std::size_t mask_;
  std::unique_ptr<word[]> words_;
};

}  // namespace cairn::tm
