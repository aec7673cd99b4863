// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>

namespace cairn::am {

/// Bounds the unanswered requests of a rank to each other rank, and thereby the room that answers
/// need.
///
/// A request takes a credit of its destination before it leaves, and its answer returns the credit.
/// All workers of this rank share the credits of a destination. A worker that finds too few waits.
/// Returned credits are granted to the waiting workers at once, in turn: each gets an equal share,
/// and moves behind the others if it still waits. So no credit is free while a worker waits, and a
/// worker is served by the W-th give_back() at the latest, for W workers.
///
/// A pure state machine: it neither sends nor blocks. The caller serialises the calls.
///
/// Work      O(1) to take without waiting, else O(waiting workers)
/// Memory    per destination 32 bytes, and 8 per worker that has waited
/// Throws    contract_violation for an answer that answers no request
class credits {
 public:
  /// max_unanswered   unanswered requests per destination, at least 1
  credits(rank_t ranks, std::uint32_t max_unanswered)
      : destinations_(static_cast<std::size_t>(ranks)), max_unanswered_(max_unanswered) {
    CAIRN_EXPECTS(max_unanswered > 0);
  }

  /// Worker k has n requests for rank `to`. Returns how many may leave now. The worker waits for
  /// the rest, in addition to what it waits for already; give_back() grants it later.
  [[nodiscard]] std::uint32_t take(worker_t k, rank_t to, std::uint32_t n) {
    auto& d = of(to);
    const auto now = std::min(n, max_unanswered_ - d.unanswered);
    d.unanswered += now;
    if (now < n) wait(d, k, n - now);
    return now;
  }

  /// Takes one credit of rank `to` if one is free; otherwise returns false and registers no wait.
  [[nodiscard]] bool try_take(rank_t to) {
    auto& d = of(to);
    if (d.unanswered == max_unanswered_) return false;
    ++d.unanswered;
    return true;
  }

  /// Forgets all requests and waits: no answer to an earlier request comes any more.
  void reset() noexcept {
    for (auto& d : destinations_) d = {};
  }

  /// n answers came from rank `from`. Calls grant(worker, m) for each turn of a waiting worker: m
  /// of its requests may leave now. `grant` must not call this object.
  template <class Grant>
  void give_back(rank_t from, std::uint32_t n, Grant&& grant) {
    auto& d = of(from);
    CAIRN_EXPECTS(n <= d.unanswered, "an answer without a request");
    d.unanswered -= n;
    while (!d.waiting.empty() && d.unanswered < max_unanswered_) {
      const auto turn = next_turn(d);
      grant(turn.worker, static_cast<std::uint32_t>(turn.requests));
    }
  }

  [[nodiscard]] std::uint32_t unanswered(rank_t to) const { return of(to).unanswered; }

 private:
  struct share {
    worker_t worker;
    std::uint64_t requests;
  };
  struct destination {
    std::uint32_t unanswered = 0;
    std::vector<share> waiting;  // one per worker; the front is served next
  };

  [[nodiscard]] destination& of(rank_t r) { return destinations_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] const destination& of(rank_t r) const {
    return destinations_[static_cast<std::size_t>(r)];
  }

  static void wait(destination& d, worker_t k, std::uint32_t n) {
    const auto found = std::ranges::find(d.waiting, k, &share::worker);
    if (found != d.waiting.end()) {
      found->requests += n;
    } else {
      d.waiting.push_back({k, n});
    }
  }

  // The first waiting worker gets its share of the free credits. It then moves to the end, or
  // leaves if it has no more requests.
  share next_turn(destination& d) {
    const auto free = max_unanswered_ - d.unanswered;
    const auto num_waiting = static_cast<std::uint32_t>(d.waiting.size());
    auto& first = d.waiting.front();
    const auto equal = std::uint64_t{(free + num_waiting - 1) / num_waiting};
    const share turn{first.worker, std::min(first.requests, equal)};
    d.unanswered += static_cast<std::uint32_t>(turn.requests);
    first.requests -= turn.requests;
    std::ranges::rotate(d.waiting, d.waiting.begin() + 1);
    if (d.waiting.back().requests == 0) d.waiting.pop_back();
    return turn;
  }

  std::vector<destination> destinations_;
  std::uint32_t max_unanswered_;
};

}  // namespace cairn::am
