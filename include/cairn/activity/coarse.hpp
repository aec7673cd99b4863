// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <cairn/activity/lane.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/activity/sent_filter.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/core/world.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

/// Chooses among the mechanisms that keep a single-cell operator's promise: what was asked for,
/// or, where the machine has no hardware transactions, atomics in the place of htm.
///
/// Throws    usage_error if plain is asked for and the rank has several workers
[[nodiscard]] mechanism resolve_single_cell(world& w, const options& asked);

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
        how_(resolve_single_cell(w, opt)),
        grain_(std::clamp<std::size_t>(opt.grain ? opt.grain : start_grain, 1, max_grain)),
        workers_(w.workers()) {
    if (how_ == mechanism::locks) locks_.emplace(lock_stripes);
    if (how_ == mechanism::htm) prepare_sections(opt);
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
  [[nodiscard]] tm::lock_table& locks() noexcept { return *locks_; }
  [[nodiscard]] task::pool& pool() noexcept { return world_.pool(); }
  [[nodiscard]] std::size_t grain() const noexcept { return how_ == mechanism::htm ? grain_ : 1; }

 private:
  template <class, class, bool>
  friend class lane;
  static constexpr std::size_t lock_stripes = 1u << 14;

  struct worker_state {
    sent_filter<Op> filter{0};
    std::vector<message> waiting;  // spawned inside `after`: they join a later group
    std::optional<rtm_sections> rtm;
    std::optional<emulated_sections> emulated;
  };

  void prepare_sections(const options& opt) {
    const auto emulate = emulation_for(world_, opt);
    if (emulate) emulation_ = make_emulation(world_.pool(), *emulate);
    for (worker_t k = 0; k < world_.workers(); ++k) {
      const auto seed = random64(static_cast<std::uint64_t>(world_.rank()), k)();
      const relax_in relax{&world_.pool()};
      if (emulate) {
        workers_[k].emulated.emplace(emulated_worker(*emulation_, *emulate, seed),
                                     tm::retry_limits{}, seed, world_.counters(), k, relax);
      } else {
        workers_[k].rtm.emplace(tm::rtm_hardware{}, tm::retry_limits{}, seed, world_.counters(), k,
                                relax);
      }
    }
  }

  template <class Body>
  void with_lane(worker_t k, Body&& body) {
    switch (how_) {
      case mechanism::plain:
        return in_lane<by_plain_access>(k, body);
      case mechanism::atomics:
        return in_lane<by_atomics>(k, body);
      case mechanism::htm:
        return emulation_ ? in_lane<by_emulated_sections>(k, body) : in_lane<by_sections>(k, body);
      default:
        return in_lane<by_locks>(k, body);
    }
  }

  template <class How, class Body>
  void in_lane(worker_t k, Body& body) {
    const auto go = [&](auto&& lane) {
      body(lane);
      lane.finish();
    };
    if (channel_) {
      go(lane<Op, How, false>(*this, k));
    } else {
      go(lane<Op, How, true>(*this, k));
    }
  }

  world& world_;
  Op op_;
  mechanism how_;
  std::size_t grain_;
  std::optional<tm::lock_table> locks_;
  std::unique_ptr<tm::emulation> emulation_;
  std::optional<am::channel<message>> channel_;
  task::per_worker<worker_state> workers_;
};

}  // namespace cairn::activity
