// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn::am {

/// Stores values under small numbers, the slots: what a worker remembers of each question until its
/// answer comes. A free slot is reused before a new one is made.
///
/// T         trivially copyable
/// Cost      O(1)
/// Memory    for the largest number of values held at once
template <class T>
class slot_table {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Returns   the value's slot
  [[nodiscard, gnu::always_inline]] std::uint64_t put(const T& value) {
    if (free_ == none) [[unlikely]]
      return append(value);
    ++size_;
    const auto slot = free_;
    free_ = places_[slot].next;
    places_[slot].value = value;
    return slot;
  }
  /// The next n calls of put() do not throw.
  void reserve(std::uint64_t n) {
    if (places_.capacity() - size_ >= n) return;
    places_.reserve(std::max<std::size_t>(size_ + n, 2 * places_.capacity()));
  }
  /// Takes a value out; its slot becomes free.
  [[nodiscard]] T take(std::uint64_t slot) {
    CAIRN_ASSERT(slot < places_.size());
    --size_;
    const T value = places_[slot].value;
    places_[slot].next = std::exchange(free_, slot);
    return value;
  }
  /// The value in a slot that is not free.
  [[nodiscard]] const T& operator[](std::uint64_t slot) const noexcept {
    return places_[slot].value;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  static constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  union place {
    explicit place(const T& v) : value(v) {}
    T value;
    std::uint64_t next;  // the next free slot
  };
  [[gnu::noinline]] std::uint64_t append(T value) {
    places_.emplace_back(value);
    ++size_;
    return places_.size() - 1;
  }

  std::vector<place> places_;
  std::uint64_t free_ = none, size_ = 0;
};

}  // namespace cairn::am
