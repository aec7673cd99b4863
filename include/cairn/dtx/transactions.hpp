// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <cairn/activity/domain.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/dtx/map_access.hpp>
#include <cairn/dtx/owned_map.hpp>
#include <cairn/dtx/runner.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::dtx {

/// Runs transactions that read and write elements of several ranks, each atomically.
///
///   dtx::transactions txs(money, {}, accounts);
///   txs.run(worker, [=, &accounts](auto& tx) {
///     const auto a = tx.read(accounts, x);
///     tx.write(accounts, y, a);
///   });
///
/// The body runs on the calling rank, on copies. An element is claimed at its owner, which marks it
/// and sends its value. When the body returns, all values are written back and the elements are
/// released. When the body accesses an element that is not held, it is left by an exception, the
/// element is claimed, and the body runs again. The body must therefore have no side effects, other
/// than through `tx`, that may not be repeated. After a refused claim the transaction releases all
/// elements, waits a random time and starts again. Elements of this rank are claimed too, so the
/// body needs no other mechanism. Activities of the domain that access a marked element are parked;
/// they delay no others.
///
/// run() only starts the transaction, which has committed when the epoch's close() returns. The
/// body is kept until then, so it must capture by value everything with a shorter lifetime.
///
/// maps        owned_maps. Only activities of `data` and transactions of this object change their
///             elements. They outlive this object
/// Messages    per element and attempt: a claim, an answer, a release; coalesced
/// Throws      contract_violation from run() if a named element belongs to none of the maps or lies
///             beyond the end of its map. An exception from a body (also for such an element)
///             poisons the world; blocking calls of all ranks then throw peer_failure
/// Collective  constructor and destructor; run() while an epoch is open, in a chunk or a body
///             section, not inside an operator, a handler or another transaction's body
/// Source      [AAM15] section 4.3, where the body is a hardware transaction; see docs/dtx.md
template <class... Maps>
class transactions final : transaction_queue {
 public:
  transactions(activity::domain& data, const transaction_options& opt, const Maps&... maps)
      : queues_(data.of().workers()),
        runner_(data.of(), opt, std::max({sizeof(typename Maps::value_type)...}), *this) {
    (runner_.add(&maps, std::make_unique<typed_map_access<Maps>>(data, maps, runner_)), ...);
  }

  /// Claims each element when the body first accesses it.
  template <class Body>
  void run(worker_t k, Body&& body) {
    start(k, std::forward<Body>(body), {});
  }

  /// Claims together, before the body runs, the elements that names(each) passes to each(place).
  template <class Body, class Names>
  void run(worker_t k, Body&& body, Names&& names) {
    std::vector<element> named;
    names([&](const auto& where) { named.push_back(runner_.element_of(*where.map, where.id)); });
    start(k, std::forward<Body>(body), std::move(named));
  }

 private:
  template <class Body>
  struct typed_body final : transaction_body {
    explicit typed_body(Body b) : body(std::move(b)) {}
    void run(transaction& tx) override { body(tx); }
    Body body;
  };
  struct waiting {
    std::unique_ptr<transaction_body> body;
    std::vector<element> named;
  };

  template <class Body>
  void start(worker_t k, Body&& body, std::vector<element> named) {
    auto work = std::make_unique<typed_body<std::decay_t<Body>>>(std::forward<Body>(body));
    runner_.queued(k);
    queues_[k].push_back({std::move(work), std::move(named)});
    runner_.advance_ready(k);
  }
  bool has_transactions(worker_t k) const noexcept override { return !queues_[k].empty(); }
  std::unique_ptr<transaction_body> next_transaction(worker_t k,
                                                     std::vector<element>& named) override {
    auto next = std::move(queues_[k].front());
    queues_[k].pop_front();
    named = std::move(next.named);
    return std::move(next.body);
  }

  task::per_worker<std::deque<waiting>> queues_;
  runner runner_;
};

}  // namespace cairn::dtx
