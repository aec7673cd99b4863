// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <cairn/activity/lane.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/core/world.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

/// Chooses among the mechanisms that keep a single-cell operator's promise.
///
/// plain needs one writer; htm needs a machine that has it (automatic asks; who names it
/// gets it or an error).
/// Throws    usage_error if `asked` cannot run here
[[nodiscard]] mechanism resolve_single_cell(world& w, mechanism asked);

/// Runs an operator's messages in groups of M, wherever their cells live.
///
/// A worker spawns messages inside a chunk, a handler or a body section:
///
///   visits.spawn(k, [&](auto& visit) { for (...) visit({v, u}); });
///
/// A message to an own cell joins the worker's current group at once, without serialisation;
/// one to a remote cell passes the sent-filter and travels coalesced to its owner, where the
/// handler runs the span in groups. `wanted` is asked before grouping, outside any
/// transaction; the attempt asks the cell again through its verbs. The mechanism is switched
/// once per chunk or span, so the inner loop is compiled for it.
///
/// Op          a single_cell operator; shared by the workers
/// Collective  constructor and destructor; spawning only while an epoch is open
/// Messages    one per spawn to a remote cell that passes the filter
/// Memory      per worker: a group of M messages, the sent-filter, channel blocks
/// Source      [AAM15] sections 3 and 4: coarsening and coalescing of activities
template <single_cell Op>
class coarse {
 public:
  using message = typename Op::message;

  coarse(world& w, Op op, const options& opt = {})
      : world_(w),
        op_(std::move(op)),
        how_(resolve_single_cell(w, opt.how)),
        grain_(std::clamp<std::size_t>(opt.grain ? opt.grain : start_grain, 1, max_grain)),
        workers_(w.workers()) {
    if (how_ == mechanism::locks) locks_.emplace(lock_stripes);
    if (w.size() > 1) {
      for (auto& k : workers_) {
        k.value.filter = sent_filter<Op>(opt.sent_filter ? w.options().filter_entries : 0);
      }
      channel_.emplace(w, [this](worker_t k, std::span<const message> batch) {
        with_lane(k, [&](auto& lane) {
          for (const auto& m : batch) lane.arrived(m);
        });
      });
    }
  }

  /// Calls body(spawn) on worker k; spawn(message) sends to the cell's owner. Returns when the
  /// messages to own cells have taken effect.
  template <class Body>
  void spawn(worker_t k, Body&& body) {
    with_lane(k, std::forward<Body>(body));
  }

  /// The mechanism that runs, and the operators per transaction (1 where there are none).
  [[nodiscard]] mechanism how() const noexcept { return how_; }
  [[nodiscard]] std::size_t grain() const noexcept { return how_ == mechanism::htm ? grain_ : 1; }

 private:
  template <class, mechanism, bool>
  friend class lane;
  static constexpr std::size_t lock_stripes = 1u << 14;

  struct worker_state {
    sent_filter<Op> filter{0};
    std::vector<message> waiting;  // spawned inside `after`: they join the next group
  };

  template <class Body>
  void with_lane(worker_t k, Body&& body) {
    switch (how_) {
      case mechanism::plain:
        return in_lane<mechanism::plain>(k, body);
      case mechanism::atomics:
        return in_lane<mechanism::atomics>(k, body);
      case mechanism::htm:
        return in_lane<mechanism::htm>(k, body);
      default:
        return in_lane<mechanism::locks>(k, body);
    }
  }

  template <mechanism How, class Body>
  void in_lane(worker_t k, Body& body) {
    if (channel_) {
      lane<Op, How, false> lane(*this, k);
      body(lane);
      lane.finish();
    } else {
      lane<Op, How, true> lane(*this, k);
      body(lane);
      lane.finish();
    }
  }

  world& world_;
  Op op_;
  mechanism how_;
  std::size_t grain_;
  std::optional<tm::lock_table> locks_;
  std::optional<am::channel<message>> channel_;
  task::per_worker<worker_state> workers_;
};

}  // namespace cairn::activity
