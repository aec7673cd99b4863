// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <cairn/activity/domain.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/dtx/gate.hpp>
#include <cairn/dtx/owned_map.hpp>
#include <cairn/dtx/runner.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::dtx {

/// Runs transactions that read and write elements of several ranks, each as if alone.
///
///   dtx::transactions txs(money, {}, accounts);
///   txs.run(worker, [=, &accounts](auto& tx) {
///     const auto a = tx.read(accounts, x);
///     tx.write(accounts, y, a);
///   });
///
/// The body runs on the worker's rank, on copies: an element is claimed at its owner, which
/// marks it and sends its value; at the end all is written back and released. Where the body
/// reaches for what was not claimed yet it is left, the element is claimed, and the body runs
/// again; so it has no effects but those through `tx`, except ones that may happen again. A
/// refused claim releases all, rests a random time, and starts again. Own elements are claimed
/// too, so that a body needs no mechanism of its own. Activities of the domain that meet a
/// marked element wait without holding up others.
///
/// run() only starts: the transaction has committed when the epoch's close() returns. The body
/// is kept until then, so it captures by value what does not live as long.
///
/// maps       owned_maps of elements that only activities of `data`, and transactions of this
///            object, change; they outlive it
/// Messages   per element and try: a claim, an answer, a release; coalesced
/// Throws     contract_violation from run() if a named element is of none of the maps or beyond
///            the last of its map; what a body throws (also for such an element) poisons the
///            world, so every rank's blocking calls throw peer_failure
/// Collective constructor and destructor; run() while an epoch is open, in a chunk or a body
///            section, not inside an operator, a handler or another transaction's body
/// Source     [AAM15] section 4.3; there the body is a hardware transaction, see decision 14
template <class... Maps>
class transactions final : job_source {
 public:
  transactions(activity::domain& data, const options& opt, const Maps&... maps)
      : queues_(data.of().workers()),
        runner_(data.of(), opt, std::max({sizeof(typename Maps::value_type)...}), *this) {
    (runner_.add(&maps, std::make_unique<map_gate<Maps>>(data, maps, runner_)), ...);
  }

  /// Elements are found on the way.
  template <class Body>
  void run(worker_t w, Body&& body) {
    start(w, std::forward<Body>(body), {});
  }

  /// Those that names(each) passes to each(place) are claimed together, beforehand.
  template <class Body, class Names>
  void run(worker_t w, Body&& body, Names&& names) {
    std::vector<element> named;
    names([&](const auto& where) {
      CAIRN_EXPECTS(where.id < where.map->size(), "a transaction names elements of its maps");
      named.push_back({runner_.number_of(where.map), where.id});
    });
    start(w, std::forward<Body>(body), std::move(named));
  }

 private:
  template <class Body>
  struct body_job final : job {
    explicit body_job(Body b) : body(std::move(b)) {}
    void run(transaction& tx) override { body(tx); }
    Body body;
  };
  struct waiting {
    std::unique_ptr<job> what;
    std::vector<element> named;
  };

  template <class Body>
  void start(worker_t w, Body&& body, std::vector<element> named) {
    auto what = std::make_unique<body_job<std::decay_t<Body>>>(std::forward<Body>(body));
    runner_.queued(w);
    queues_[w].push_back({std::move(what), std::move(named)});
    runner_.pump(w);
  }
  bool has_jobs(worker_t w) const noexcept override { return !queues_[w].empty(); }
  std::unique_ptr<job> next_job(worker_t w, std::vector<element>& named) override {
    auto next = std::move(queues_[w].front());
    queues_[w].pop_front();
    named = std::move(next.named);
    return std::move(next.what);
  }

  task::per_worker<std::deque<waiting>> queues_;
  runner runner_;
};

}  // namespace cairn::dtx
