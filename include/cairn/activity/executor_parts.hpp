// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/activity/batch.hpp>
#include <cairn/activity/domain.hpp>
#include <cairn/activity/filter_choice.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/pace.hpp>
#include <cairn/activity/parking.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/combine_table.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/am/reduce.hpp>
#include <cairn/am/request.hpp>
#include <cairn/am/slot_table.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::activity {

namespace detail {

struct nothing {};

// The message path of an operator: its channels, each worker's endpoints, and the per-worker state.
template <class Op, class Reducer>
struct message_path {
  using message = typename Op::message;
  using path = am::channel<message, Reducer>;
  using sender = typename path::sender;
  using answerer = nothing;
  using unanswered = nothing;
  using combined = std::conditional_t<combining<Op>, am::combine_table<message>, nothing>;
};
template <fire_and_return Op, class Reducer>
struct message_path<Op, Reducer> {
  using message = typename Op::message;
  using path = am::request<message, result_t<Op>>;
  using sender = typename path::asker;
  using answerer = std::optional<typename path::answerer>;
  using unanswered = am::slot_table<message>;
  using combined = nothing;  // each message is answered
};

}  // namespace detail

/// What an executor and the lanes of its workers share.
template <class Op>
struct executor_parts {
  using message = typename Op::message;
  struct reducer;
  using message_path = detail::message_path<Op, reducer>;

  // Of the messages that were offered and not counted yet.
  struct uncounted_offers {
    std::uint64_t filtered = 0;  // dropped by the filter
    std::uint64_t entered = 0;   // not merged
  };

  /// The state of one worker.
  struct worker_state {
    sent_filter_of<Op> filter;
    filter_choice filter_use;  // whether the filter is used, if that is chosen online
    [[no_unique_address]] typename message_path::combined combined;
    std::size_t noted_entries = 0;  // of `combined`, in a trace
    [[no_unique_address]] std::conditional_t<combining<Op>, uncounted_offers, detail::nothing>
        uncounted;
    [[no_unique_address]]
    typename message_path::unanswered unanswered;  // questions sent to other ranks
    std::vector<message> waiting;    // spawned inside `after`; they join a later group
    std::vector<message> sorted;     // a received buffer
    detail::parked_list<Op> parked;  // messages that met a marker
    std::uint64_t parked_in = 0;     // the epoch; messages parked in a cancelled epoch never run
    group_rooms<Op> rooms;
    activity::pace pace;
  };

  executor_parts(domain& d, Op o) : w(d.of()), data(d), op(std::move(o)), workers(w.workers()) {}

  /// The reduce stage for fire-and-forget messages. A worker drops messages that cannot take effect
  /// at their cell, and combines messages of equal key. This applies to its own messages and to
  /// those that it forwards.
  struct reducer {
    executor_parts& all;

    [[nodiscard]] rank_t owner(const message& m) const { return shape<Op>::owner(all.op, m); }

    template <class PassOn>
    am::offered offer(worker_t k, const message& m, PassOn&& pass_on) {
      auto& mine = all.workers[k];
      if constexpr (filtered<Op>) {
        if (mine.filter.enabled() && !all.senders_filter_all(mine)) {
          mine.filter.enter(all.w.messages().epoch());
          if (!mine.filter.passes_own(all.op, all.op.cell(m), m)) {
            if constexpr (combining<Op>) {
              ++mine.uncounted.filtered;
            } else {
              all.w.counters().add(k, obs::counter::messages_filtered);
            }
            return am::offered::merged;
          }
        }
      }
      if constexpr (combining<Op>) {
        const auto became = mine.combined.offer_uncounted(*this, m, pass_on);
        if (became != am::offered::merged) ++mine.uncounted.entered;
        return became;
      } else {
        pass_on(m);
        return am::offered::passed;
      }
    }
    void count(worker_t k, std::uint64_t n) requires combining<Op> {
      auto& mine = all.workers[k];
      const auto entered = std::exchange(mine.uncounted.entered, 0);
      // Some may be of a sender that has not reported yet.
      const auto filtered = std::min(mine.uncounted.filtered, n - entered);
      mine.uncounted.filtered -= filtered;
      mine.combined.count(n - filtered);
      const auto entries = mine.combined.entries();
      if (std::exchange(mine.noted_entries, entries) != entries) {
        all.w.trace().note(k, obs::trace_kind::choice, entries == 0 ? "no table" : "table",
                           {.amount = entries});
      }
      auto& counters = all.w.counters();
      counters.add(k, obs::counter::messages_filtered, filtered);
      counters.add(k, obs::counter::messages_merged, n - filtered - entered);
    }
    [[nodiscard]] bool offers(worker_t k, std::uint64_t sent) const requires combining<Op> {
      auto& mine = all.workers[k];
      if constexpr (filtered<Op>) {
        if (mine.filter.enabled()) return true;
      }
      return mine.combined.offers(sent);
    }
    template <class PassOn>
    void drain(worker_t k, PassOn&& pass_on) requires combining<Op> {
      all.workers[k].combined.drain(pass_on);
    }
    void forget(worker_t k) noexcept requires combining<Op> {
      all.workers[k].combined.drain([](const message&) {});
    }

    // The interface that the reduction table uses.
    [[nodiscard]] std::uint64_t key(const message& m) const requires combining<Op> {
      return all.op.key(m);
    }
    void combine(message& kept, const message& m) const requires combining<Op> {
      combine_into<typename Op::combined>(kept, m);
    }
  };
  static constexpr std::size_t max_combined = std::size_t{1} << 16;  // messages of one worker

  world& w;
  domain& data;
  Op op;
  task::per_worker<worker_state> workers;
  reducer reduce{*this};
  machines::lent_memory lent;  // for mirrors that the ranks of a machine share
  // empty on one rank; declared last because it uses the members above
  std::optional<typename message_path::path> out;

  /// With delivery to the worker that owns the element: a channel per worker, which the workers of
  /// that number run on each rank, instead of `out`; and each worker's senders.
  using path_to_worker = am::channel<message>;
  std::deque<path_to_worker> to_worker;
  task::per_worker<std::deque<typename path_to_worker::sender>> senders{w.workers()};

  void make_filters() {
    if constexpr (filtered<Op>) {
      const auto entries = data.requested().sent_filter ? w.options().filter_entries : 0;
      for (auto& k : workers) k.value.filter = sent_filter_of<Op>(entries);
      if constexpr (shares_filter<Op>) share_filters(entries);
    }
  }
  /// Makes the channels to workers; arrived(k, span) runs messages of worker k's elements.
  template <class Arrived>
  void connect_workers(const Arrived& arrived) {
    make_filters();
    const auto owner = [this](const message& m) { return shape<Op>::owner(op, m); };
    for (worker_t to{0}; to < w.workers(); ++to) {
      auto& road = to_worker.emplace_back(w, owner, arrived,
                                          am::channel_options{.worker = to, .sends = !silent<Op>});
      for (worker_t k{0}; k < w.workers(); ++k) senders[k].emplace_back(road, k);
    }
  }

  // A received buffer in the order in which its messages run.
  [[nodiscard]] std::span<const message> in_order(worker_t k, std::span<const message> received) {
    if constexpr (sortable<Op>) {
      if (data.requested().sort_received) {
        auto& sorted = workers[k].sorted;
        sorted.assign(received.begin(), received.end());
        std::ranges::sort(sorted, &Op::before);
        return sorted;
      }
    }
    return received;
  }

  // Whether a hop would find little to drop: all ranks share the mirrors of what they send.
  [[nodiscard]] bool senders_filter_all(const worker_state& worker) const {
    return worker.filter.shares() && w.machines().count() == 1;
  }

  // The ranks of a machine use one set of mirrors, if that takes no more memory than their own
  // would. Collective.
  void share_filters(std::size_t entries) requires shares_filter<Op> {
    using mirror = typename sent_filter_of<Op>::shared_mirror;
    auto& machines = w.machines();
    const auto* const map = op.cell(message{}).map;
    const std::size_t n = map->size();
    const auto ranks = static_cast<std::size_t>(w.size() / machines.count());  // of a machine
    if (machines.count() == w.size() || n * sizeof(mirror) > 8 * entries * ranks) return;
    lent = machines.lend(n * sizeof(mirror));
    const auto sharers = machines.neighbors().size(), place = machines.place();
    if (const auto all = lent.template values<mirror>(n); sharers > 1 && !all.empty()) {
      const auto begin = n * place / sharers, end = n * (place + 1) / sharers;
      mirror initial{};
      if constexpr (!once<Op>) initial = map->initial();
      std::ranges::fill(all.subspan(begin, end - begin), initial);
      for (auto& k : workers) k.value.filter.share(all);
    }
    // Nothing is offered before all mirrors are initial.
    if (!data.requested().collective_follows) w.barrier();
  }

  // A message that met a marker is parked. It counts as in flight, and is retried whenever its
  // worker is idle.
  void park(worker_t k, const message& m, const origin<Op>& from) requires multi_cell<Op> {
    am::hold(w, k, 1);
    w.counters().add(k, obs::counter::requeued);
    auto& state = workers[k];
    if (state.parked_in != w.messages().epoch()) state.parked.clear();
    state.parked_in = w.messages().epoch();
    state.parked.push_back({m, from});
  }
};

}  // namespace cairn::activity
