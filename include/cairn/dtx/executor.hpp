// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/request.hpp>
#include <cairn/am/slot_table.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/max_grain.hpp>
#include <cairn/dtx/local_part.hpp>
#include <cairn/dtx/map_access.hpp>
#include <cairn/dtx/owned_map.hpp>
#include <cairn/dtx/runner.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::dtx {

struct executor_options {
  std::size_t max_concurrent = 16;  ///< concurrent groups per worker; further operators are queued
  /// Operators per group, which hold their elements together, at most max_grain; 0: that of the
  /// domain's options, or 16 if it is chosen automatically.
  std::size_t grain = 0;
  back_off_limits back_off = {};  ///< see options in dtx/runner.hpp
};

/// Runs a multi-cell operator whose elements may lie on several ranks, atomically. The operator is
/// the same as for activity::executor.
///
///   dtx::executor moves(money, transfer{accounts}, {}, accounts);
///   moves.spawn(k, [&](auto& send) { for (...) send({x, y}); });
///
/// A message goes to the owner of the first element. If that rank owns all elements, the operator
/// runs as an activity of the domain. Otherwise the rank acquires all elements by the ownership
/// protocol, runs the attempt on copies and sends the written values back. Operators that acquire
/// elements form groups: a group claims an element once, also if several of its operators name it,
/// and its attempts run one after another. `wanted` is evaluated only for activities, because it
/// reads elements in place. `after` runs at the owner of the first element, after the values
/// written to that rank are in place. Values written to other ranks may still be in transit, but
/// their elements stay marked until they arrive. `answer` runs at the rank that spawned the
/// message.
///
/// Op          a multi-cell operator (activity/operator.hpp); it names elements by the maps
///             themselves, not by views
/// maps        owned_maps. Only activities of `data` and dtx objects of that domain change their
///             elements. They outlive the executor
/// Messages    per element and group with several owners: a claim, an answer, a release. One for a
///             message to another rank, and one for its answer. All coalesced; none on one rank
/// Throws      contract_violation from spawn() for an element beyond the end of its map, or of none
///             of the maps. An attempt poisons the world with such an error if it accesses an
///             element that elements() did not name and that is remote or accessed within a group;
///             any other exception of a distributed attempt poisons the world too
/// Collective  constructor and destructor; spawn() while an epoch is open, as activity::executor
/// Source      [AAM15] section 4.3; docs/dtx.md lists the differences
template <activity::multi_cell Op>
class executor final : transaction_queue {
  using local = local_part<Op, executor>;

 public:
  using message = typename Op::message;

  template <class... Maps>
  executor(activity::domain& data, Op op, const executor_options& opt, const Maps&... maps)
      : world_(data.of()),
        op_(std::move(op)),
        grain_(std::min(max_grain, opt.grain != 0                ? opt.grain
                                   : data.requested().grain != 0 ? data.requested().grain
                                                                 : 16)),
        workers_(world_.workers()),
        runner_(world_, {opt.max_concurrent, opt.back_off},
                std::max({sizeof(typename Maps::value_type)...}), *this),
        activities_(data, local{op_, this}) {
    (runner_.add(&maps, one_rank() ? nullptr
                                   : std::make_unique<typed_map_access<Maps>>(data, maps, runner_)),
     ...);
    if (one_rank()) return;
    if constexpr (returns) {
      out_.emplace(
          world_,
          [this](worker_t k, rank_t from, std::span<const typename path::ticketed_question> span) {
            for (const auto& q : span) queue(k, q.question, {from, q.by});
          },
          [this](worker_t k, std::span<const typename path::ticketed_answer> span) {
            for (const auto& a : span)
              deliver_answer(k, workers_[k].unanswered.take(a.to.number()), a.answer);
            run_deferred(k);
          });
    } else {
      out_.emplace(world_, [this](worker_t k, std::span<const message> span) {
        for (const auto& m : span) queue(k, m, {});
      });
    }
  }

  /// Calls body(spawn) on worker k, as activity::executor does. Returns when the messages whose
  /// elements all belong to this rank have taken effect or wait for a marker.
  template <class Body>
  void spawn(worker_t k, Body&& body) {
    activities_.spawn(k, [&](auto& send) {
      auto send_or_queue = [&](const message& m) { pass(k, m, send); };
      body(send_or_queue);
    });
    runner_.advance_ready(k);
  }

  /// Mechanism of the activities, whose elements have one owner.
  [[nodiscard]] activity::mechanism chosen_mechanism() const noexcept {
    return activities_.chosen_mechanism();
  }
  [[nodiscard]] std::size_t grain() const noexcept { return activities_.grain(); }
  [[nodiscard]] std::string why() const { return activities_.why(); }
  [[nodiscard]] activity::ran ran() const { return activities_.ran(); }

 private:
  friend local;
  static constexpr bool returns = activity::fire_and_return<Op>;
  using result = activity::result_t<Op>;
  using origin = activity::origin<Op>;
  using message_path = activity::detail::message_path<Op, am::no_reducer>;
  using path = typename message_path::path;
  struct waiting {
    message m;
    origin from;
  };
  struct worker_state {
    std::deque<waiting> queue;
    [[no_unique_address]] typename message_path::unanswered unanswered;  // sent to other ranks
    std::vector<message> deferred;  // messages for activities, sent outside any activity
  };

  // Passed to `after` and `answer` outside activities.
  struct context {
    executor& all;
    worker_t at;
    [[nodiscard]] worker_t worker() const noexcept { return at; }
    void operator()(const message& m) {
      auto later = [this](const message& own) { all.workers_[at].deferred.push_back(own); };
      all.pass(at, m, later);
    }
  };

  // Operators that acquire their elements together.
  class group final : public transaction_body {
   public:
    explicit group(executor& all) : all_(all) {}

    void add(const waiting& w, std::vector<element>& named) {
      members_.push_back(w);
      all_.op_.elements(w.m, [&](const auto& where) {
        named.push_back(all_.runner_.element_of(*where.map, where.id));
      });
    }

    void run(transaction& tx) override {
      results_.clear();
      const Op op = all_.op_;
      for (const auto& w : members_) {
        numbers_.clear();
        tx.allow_all();
        op.elements(w.m, [&](const auto& where) {
          numbers_.push_back(tx.number_of(*where.map, where.id));
        });
        tx.allow_only(numbers_);
        results_.push_back(activity::detail::attempt(op, tx, w.m));
        CAIRN_ASSERT(activity::detail::done(results_.back()) || !tx.has_written());
      }
    }

    void committed(worker_t k) override {
      std::uint64_t failed = 0;
      context at{all_, k};
      for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto& [m, from] = members_[i];
        const result& r = results_[i];
        if (activity::detail::done(r)) {
          activity::detail::after(all_.op_, m, r, at);
        } else {
          ++failed;
        }
        if constexpr (returns) all_.answer(k, from, m, r);
      }
      all_.run_deferred(k);
      auto& counters = all_.world_.counters();
      counters.add(k, obs::counter::operators, members_.size());
      counters.add(k, obs::counter::operators_failed, failed);
      counters.add(k, obs::counter::activities, 1);
    }

    [[nodiscard]] std::uint64_t size() const noexcept override { return members_.size(); }

   private:
    executor& all_;
    std::vector<waiting> members_;
    std::vector<result> results_;
    std::vector<std::size_t> numbers_;
  };

  [[nodiscard]] bool one_rank() const noexcept { return world_.size() == 1; }

  // Calls activity(m) if one rank owns all elements; else passes m to the owner of the first
  // element.
  void pass(worker_t k, const message& m, auto&& activity) {
    rank_t first = -1;
    bool one_owner = true;
    op_.elements(m, [&](const auto& where) {
      static_cast<void>(runner_.element_of(*where.map, where.id));
      if (one_rank()) return;
      const auto owner = where.map->owner(where.id);
      if (first < 0) first = owner;
      one_owner = one_owner && owner == first;
    });
    if (one_owner) return activity(m);
    if (first == world_.rank()) return queue(k, m, own_origin());
    if constexpr (returns) {
      out_->from(k)(first, m, am::slot(workers_[k].unanswered.put(m)));
    } else {
      out_->send(k, first, m);
    }
  }

  // Origin of a message that was spawned on this rank.
  [[nodiscard]] origin own_origin() const {
    if constexpr (returns) return {world_.rank(), {}};
    return {};
  }

  void queue(worker_t k, const message& m, const origin& from) {
    runner_.queued(k);
    workers_[k].queue.push_back({m, from});
  }
  bool has_transactions(worker_t k) const noexcept override { return !workers_[k].queue.empty(); }
  std::unique_ptr<transaction_body> next_transaction(worker_t k,
                                                     std::vector<element>& named) override {
    auto& queue = workers_[k].queue;
    auto next = std::make_unique<group>(*this);
    for (std::size_t n = std::min(grain_, queue.size()); n > 0; --n) {
      next->add(queue.front(), named);
      queue.pop_front();
    }
    return next;
  }

  void answer(worker_t k, const origin& to, const message& m, const result& r) requires returns {
    if (to.rank == world_.rank()) return deliver_answer(k, m, r);
    out_->answer_from(k)(to.rank, to.ticket, r);
  }
  void deliver_answer(worker_t k, const message& m, const result& r) requires returns {
    context at{*this, k};
    world_.counters().add(k, obs::counter::answers, 1);
    activity::detail::answer(op_, m, r, at);
  }

  // Called after the loops that fill `deferred`: an operator must not run inside the `after` of
  // another.
  void run_deferred(worker_t k) {
    auto& deferred = workers_[k].deferred;
    if (deferred.empty()) return;
    const auto messages = std::exchange(deferred, {});
    activities_.spawn(k, [&](auto& send) {
      for (const auto& m : messages) send(m);
    });
  }

  world& world_;
  Op op_;
  const std::size_t grain_;
  task::per_worker<worker_state> workers_;
  runner runner_;
  activity::executor<local> activities_;
  std::optional<path> out_;  // empty on one rank
};

template <class Op, class... Maps>
executor(activity::domain&, Op, const executor_options&, const Maps&...) -> executor<Op>;

}  // namespace cairn::dtx
