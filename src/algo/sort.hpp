// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>

// Serial steps that stop when the call is cancelled. Some elements of a list may then be missing
// and others duplicated. Except sort_in_loop, worker 0 calls them, outside loops; they throw as
// pool::throw_if_interrupted.

namespace cairn::algo {
namespace detail {

/// Calls poll() after every 2^16 comparisons: after less than a millisecond.
template <class Before, class Poll>
class polled {
 public:
  polled(Before before, Poll poll) : before_(std::move(before)), poll_(std::move(poll)) {}

  template <class T>
  bool operator()(const T& a, const T& b) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copy_constructible_v<T>,
                  "an exception may leave copies behind");
    if (--left_ == 0) {
      left_ = between_polls;
      poll_();
    }
    return before_(a, b);
  }

 private:
  static constexpr std::uint32_t between_polls = 1u << 16;
  Before before_;
  Poll poll_;
  std::uint32_t left_ = between_polls;
};

struct loop_ends {};

template <class Before>
[[nodiscard]] auto interruptible(world& w, Before before) {
  return polled(std::move(before), [&w] { w.pool().throw_if_interrupted(); });
}

}  // namespace detail

/// As std::sort.
template <class T, class Before>
void sort_interruptibly(world& w, std::vector<T>& all, Before before) {
  auto compare = detail::interruptible(w, std::move(before));
  std::sort(all.begin(), all.end(), std::ref(compare));
}

/// As std::sort, on worker k inside a loop, which ends after this chunk if the call is cancelled.
template <class T, class Before>
void sort_in_loop(world& w, worker_t k, std::span<T> all, Before before) {
  detail::polled compare(std::move(before), [&w, k] {
    if (!w.pool().may_continue(k)) throw detail::loop_ends();
  });
  try {
    std::sort(all.begin(), all.end(), std::ref(compare));
  } catch (const detail::loop_ends&) {
  }
}

/// Calls f(begin, end) for consecutive pieces of [0, n).
template <class F>
void in_pieces(world& w, std::size_t n, F&& f) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < n; begin += piece) {
    f(begin, std::min(n, begin + piece));
    w.pool().throw_if_interrupted();
  }
}

/// Appends a list.
template <class T>
void append_interruptibly(world& w, std::vector<T>& to,
                          const std::type_identity_t<std::span<const T>> from) {
  in_pieces(w, from.size(), [&](std::size_t begin, std::size_t end) {
    to.insert(to.end(), from.data() + begin, from.data() + end);
  });
}

}  // namespace cairn::algo
