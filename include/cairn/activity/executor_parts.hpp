// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include <cairn/activity/batch.hpp>
#include <cairn/activity/domain.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/pace.hpp>
#include <cairn/activity/parking.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/request.hpp>
#include <cairn/am/slot_table.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::activity {

namespace detail {

struct nothing {};

// How an operator's messages travel, and the worker's ends of it.
template <class Op>
struct way_of {
  using message = typename Op::message;
  using path = am::channel<message>;
  using sender = typename path::sender;
  using replier = nothing;
  using unanswered = nothing;
};
template <fire_and_return Op>
struct way_of<Op> {
  using message = typename Op::message;
  using path = am::request<message, result_t<Op>>;
  using sender = typename path::asker;
  using replier = std::optional<typename path::replier>;
  using unanswered = am::slot_table<message>;
};

}  // namespace detail

/// What an executor and the lanes of its workers share.
template <class Op>
struct executor_parts {
  using message = typename Op::message;

  /// What one worker has of it.
  struct worker_state {
    sent_filter_of<Op> filter;
    [[no_unique_address]] typename detail::way_of<Op>::unanswered unanswered;  // by other ranks
    std::vector<message> waiting;    // spawned inside `after`: they join a later group
    detail::parked_list<Op> parked;  // they met a marker
    group_rooms<Op> rooms;
    activity::pace pace;
  };

  executor_parts(domain& d, Op o) : w(d.of()), data(d), op(std::move(o)), workers(w.workers()) {}

  world& w;
  domain& data;
  Op op;
  std::optional<typename detail::way_of<Op>::path> out;  // nothing on one rank
  task::per_worker<worker_state> workers;

  // A message that met a marker waits, counted as one on its way, and is tried again whenever its
  // worker has nothing else to do.
  void park(worker_t k, const message& m, const origin<Op>& from) requires multi_cell<Op> {
    am::hold(w, k, 1);
    w.counters().add(k, obs::counter::requeued);
    workers[k].parked.push_back({m, from});
  }
};

}  // namespace cairn::activity
