// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>

#include <cairn/task/pool.hpp>

namespace cairn::task {

/// Numbers below n, each taken by one worker. A worker takes the numbers of its own share in
/// ascending order, then those of the other shares. In consecutive loops it thus works on the same
/// elements, which its caches still hold, and rarely writes what another worker also writes.
class chunk_shares {
 public:
  struct divided {
    std::size_t numbers, workers;
  };
  explicit chunk_shares(const divided& d) : n_(d.numbers), count_(std::min(d.workers, max_shares)) {
    for (std::size_t s = 0; s < count_; ++s) shares_[s].next = first(s);
  }

  /// A worker's view.
  class taker {
   public:
    taker(chunk_shares& all, worker_t k) : all_(all), share_(k % all.count_) {}

    /// The next number; n if all are taken.
    [[nodiscard]] std::size_t next() noexcept {
      for (; exhausted_ < all_.count_; ++exhausted_) {
        const auto i = all_.take(share_);
        if (i < all_.n_) return i;
        share_ = (share_ + 1) % all_.count_;
      }
      return all_.n_;
    }

   private:
    chunk_shares& all_;
    std::size_t share_, exhausted_ = 0;
  };

  /// Takes all remaining numbers.
  void take_all() noexcept {
    for (std::size_t s = 0; s < count_; ++s) shares_[s].next.store(n_, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t max_shares = 16;  // with more workers, several use one share
  struct alignas(cache_line) share {
    std::atomic<std::size_t> next;
  };

  [[nodiscard]] std::size_t first(std::size_t s) const noexcept {
    return n_ / count_ * s + std::min(s, n_ % count_);
  }
  [[nodiscard]] std::size_t take(std::size_t s) noexcept {
    auto& next = shares_[s].next;
    const auto last = first(s + 1);
    if (next.load(std::memory_order_relaxed) >= last) return n_;
    const auto i = next.fetch_add(1, std::memory_order_relaxed);
    return i < last ? i : n_;
  }

  std::size_t n_, count_;
  std::array<share, max_shares> shares_;
};

/// The elements of a loop, [0, elements), and how many a call gets at most.
struct loop_size {
  std::size_t elements;
  std::size_t chunk;
};

/// parallel_for on the calling worker 0 alone; the chunk is not 0.
template <class F, class Between>
void serial_for(loop_size loop, F&& f, Between&& between) {
  const auto [n, chunk] = loop;
  for (std::size_t begin = 0; begin < n; begin += chunk) {
    f(main_worker, begin, std::min(n, begin + chunk));
    if (!between(main_worker)) return;
  }
}

/// Calls f(worker, begin, end) for disjoint chunks that cover the elements, on all workers of the
/// pool; returns when all have ended. Each worker begins with its own share of the chunks (see
/// chunk_shares).
///
/// chunk     0 chooses about 16 chunks per worker
/// between   between(worker) is called after each chunk (core handles arrived messages there); once
///           it returns false no new chunk starts
/// Throws    the first exception of f; no new chunk starts after it
/// Called by worker 0 only, never nested.
template <class F, class Between>
void parallel_for(pool& p, loop_size loop, F&& f, Between&& between) {
  auto [n, chunk] = loop;
  if (n == 0) return;
  const auto workers = static_cast<std::size_t>(p.workers());
  if (chunk == 0) chunk = std::max<std::size_t>(1, n / (16 * workers));
  if (workers == 1 || n <= chunk) return serial_for({.elements = n, .chunk = chunk}, f, between);
  chunk_shares chunks({.numbers = (n - 1) / chunk + 1, .workers = workers});
  const auto take_chunks = [&](worker_t k) {
    try {
      chunk_shares::taker mine(chunks, k);
      for (;;) {
        const auto begin = mine.next() * chunk;
        if (begin >= n) return;
        f(k, begin, std::min(n, begin + chunk));
        if (!between(k)) chunks.take_all();
      }
    } catch (...) {
      chunks.take_all();
      throw;
    }
  };
  p.share(std::cref(take_chunks));  // by reference: a copy would be allocated
}

/// The same; between chunks the pool's sources decide whether the loop continues.
///
/// Throws    also `cancelled` and peer_failure, if loops must end in the rank's world
template <class F>
void parallel_for(pool& p, loop_size loop, F&& f) {
  parallel_for(p, loop, f, [&](worker_t k) { return p.may_continue(k); });
  p.throw_if_interrupted();
}

}  // namespace cairn::task
