// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>

namespace cairn::task {

/// A queue of pointers in one array, which grows as needed: first in, first out, or also last out.
///
/// Cost      O(1), amortised for push_back
template <class T>
class ring_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  /// The i-th from the front.
  [[nodiscard]] T*& operator[](std::size_t i) noexcept {
    return first_[(begin_ + i) & (capacity_ - 1)];
  }

  /// The next n calls of push_back() do not throw.
  void reserve(std::size_t n) {
    if (n > capacity_ - size()) grow(size() + n);
  }
  [[gnu::always_inline]] void push_back(T* x) {
    if (size() == capacity_) [[unlikely]]
      grow(size() + 1);
    first_[end_++ & (capacity_ - 1)] = x;
  }
  [[nodiscard]] T* pop_front() noexcept {
    CAIRN_ASSERT(!empty());
    return first_[begin_++ & (capacity_ - 1)];
  }
  [[nodiscard]] T* pop_back() noexcept {
    CAIRN_ASSERT(!empty());
    return first_[--end_ & (capacity_ - 1)];
  }
  /// As push_back(x) and then pop_front(), but never grows. Not empty.
  [[nodiscard, gnu::always_inline]] T* exchange_front(T* x) noexcept {
    CAIRN_ASSERT(!empty());
    auto* const front = first_[begin_++ & (capacity_ - 1)];
    first_[end_++ & (capacity_ - 1)] = x;  // in a full queue, the place of the front
    return front;
  }
  /// Makes the i-th the first; the former first takes its place.
  void bring_to_front(std::size_t i) noexcept { std::swap((*this)[0], (*this)[i]); }
  void clear() noexcept { begin_ = end_ = 0; }

 private:
  [[gnu::noinline, gnu::cold]] void grow(std::size_t places) {
    std::vector<T*> larger(std::max<std::size_t>(16, std::bit_ceil(places)));
    const auto n = size();
    for (std::size_t i = 0; i < n; ++i) larger[i] = (*this)[i];
    places_.swap(larger);
    first_ = places_.data();
    capacity_ = places_.size();
    begin_ = 0;
    end_ = n;
  }

  std::size_t begin_ = 0;  // apart from end_: a load of both at once would wait for their stores
  T** first_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t end_ = 0;
  std::vector<T*> places_;
};

}  // namespace cairn::task
