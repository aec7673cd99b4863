// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/activity/batch.hpp>
#include <cairn/activity/domain.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/pace.hpp>
#include <cairn/activity/parking.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::activity {

/// How an answer travels: with its question, so that the spawner need not keep it.
template <class Op>
struct answer_to {
  typename Op::message question;
  result_t<Op> result;
};

namespace detail {

struct nothing {};
template <class Op>
struct answers_of {
  using channel = nothing;
  using sender = nothing;
};
template <fire_and_return Op>
struct answers_of<Op> {
  using channel = std::optional<am::channel<answer_to<Op>>>;
  using sender = std::optional<typename am::channel<answer_to<Op>>::sender>;
};
template <class Op>
using answer_sender_of = typename answers_of<Op>::sender;
template <class Op>
using answer_channel_of = typename answers_of<Op>::channel;

}  // namespace detail

/// What an executor and the lanes of its workers share.
template <class Op>
struct executor_parts {
  using message = typename Op::message;

  /// What one worker has of it.
  struct worker_state {
    sent_filter_of<Op> filter;
    std::vector<message> waiting;    // spawned inside `after`: they join a later group
    detail::parked_list<Op> parked;  // they met a marker
    std::uint64_t parked_in = 0;     // the epoch: what a cancelled one has left never runs
    group_rooms<Op> rooms;
    activity::pace pace;
  };

  executor_parts(domain& d, Op o) : w(d.of()), data(d), op(std::move(o)), workers(w.workers()) {}

  world& w;
  domain& data;
  Op op;
  std::optional<am::channel<message>> out;  // nothing on one rank
  [[no_unique_address]] detail::answer_channel_of<Op> answers;
  task::per_worker<worker_state> workers;

  // A message that met a marker waits, counted as one on its way, and is tried again whenever its
  // worker has nothing else to do.
  void park(worker_t k, const message& m, rank_t from) requires multi_cell<Op> {
    w.messages().hold(k, 1);
    w.counters().add(k, obs::counter::requeued);
    auto& state = workers[k];
    if (state.parked_in != w.messages().epoch()) state.parked.clear();
    state.parked_in = w.messages().epoch();
    state.parked.push_back({m, from});
  }
};

}  // namespace cairn::activity
