// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <cairn/activity/commit_atomics.hpp>
#include <cairn/activity/commit_chosen.hpp>
#include <cairn/activity/commit_htm.hpp>
#include <cairn/activity/commit_locks.hpp>
#include <cairn/activity/commit_plain.hpp>
#include <cairn/activity/commit_stm.hpp>
#include <cairn/activity/domain.hpp>
#include <cairn/activity/executor_parts.hpp>
#include <cairn/activity/lane.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/parking.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>

namespace cairn::activity {

/// Runs an operator's messages in groups of M, wherever their elements live.
///
/// A worker spawns messages inside a chunk, a handler or a body section:
///
///   visits.spawn(k, [&](auto& visit) { for (...) visit({v, u}); });
///
/// A message to an own element joins the worker's current group at once, without
/// serialisation; one to a remote element passes the sent-filter and travels coalesced to its
/// owner, where the handler runs the span in groups. `wanted` is asked before grouping, outside
/// any transaction; the attempt asks the cell again through its verbs. Answers of a
/// fire-and-return operator travel back coalesced, to the worker that spawned; messages that came
/// from far run on any worker of this rank. The mechanism is switched
/// once per chunk or span, so the inner loop is compiled for it; where nothing else was asked for,
/// the domain's plan chooses it and M from what such chunks and spans took.
///
/// Op          an operator (operator.hpp); shared by the workers
/// Fixed       the only mechanism to compile; automatic compiles all that keep Op's promise
///             and chooses when constructed. One that cannot keep it does not compile.
/// Collective  constructor and destructor; spawning only while an epoch is open
/// Messages    one per spawn to a remote element that passes the filter; an answer to each of
///             a fire-and-return operator, which has no filter
/// Memory      per worker, when first needed: a group of M messages, at most 64 KB unless one
///             message is larger; the sent-filter; channel blocks; the messages to other ranks
///             that have not been answered
/// Throws      contract_violation from spawn() or a handler if elements() names another rank's
///             element beside an own one
/// Source      [AAM15] sections 3 and 4: coarsening and coalescing of activities
template <class Op, mechanism Fixed = mechanism::automatic>
class executor {
  static_assert(single_cell<Op> || multi_cell<Op>,
                "an operator has cell, wanted and attempt (one cell of at most 8 bytes), or "
                "elements and attempt (several)");
  static_assert(can_run<Op, Fixed>,
                "this mechanism cannot keep the operator's promise: several cells do not change "
                "in one atomic instruction");

 public:
  using message = typename Op::message;

  /// For a single-cell operator, in a domain of its own.
  /// Throws    usage_error if the mechanism cannot run here
  executor(world& w, Op op, options opt = {}) requires single_cell<Op>
      : executor(std::make_unique<domain>(w, fixed(opt), cells::one), std::move(op)) {}

  /// For an operator whose mechanism is its domain's.
  /// Throws    usage_error if Fixed is not what the domain was asked for, or for a single-cell
  ///           operator in a domain that may run anything but plain, locks or one_lock
  executor(domain& data, Op op) : executor(data, std::move(op), nullptr) {
    if (!compiled_for(data.how(), data.may_move())) {
      throw usage_error("an operator that is compiled for mechanism " + std::string(name(Fixed)) +
                        " alone needs a domain that was asked for it, and this one runs " +
                        std::string(name(data.how())));
    }
    if (single_cell<Op> && !joins(data)) {
      throw usage_error(
          "an operator of one cell needs a domain that was asked for plain, locks or one-lock, and "
          "this one runs " +
          std::string(name(data.how())));
    }
    connect();
  }

  ~executor() { parts_.data.leave(seat_); }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Calls body(spawn) on worker k; spawn(message) sends to the element's owner. Returns when
  /// the messages to own elements have taken effect.
  template <class Body>
  void spawn(worker_t k, Body&& body) {
    with_lane(k, std::forward<Body>(body));
  }

  /// The mechanism that runs and the operators per activity (1 where there are no groups), on
  /// worker 0; workers may differ.
  [[nodiscard]] mechanism how() const noexcept { return now().how; }
  [[nodiscard]] std::size_t grain() const noexcept {
    return std::min(now().grain, group_room<Op>::size);
  }
  /// Why: for the report. Outside epochs.
  [[nodiscard]] std::string why() const {
    auto text = parts_.data.why();
    if (const auto* t = tuner_now()) text += said_of(*t);
    return text;
  }
  /// All three. Outside epochs.
  [[nodiscard]] activity::ran ran() const { return {how(), grain(), why()}; }

 private:
  executor(domain& data, Op op, std::unique_ptr<domain>&& own)
      : own_(std::move(own)),
        parts_(data, std::move(op)),
        seat_(data.join()),
        lot_(data.of(), [this](worker_t k) { return retry(k); }) {}

  executor(std::unique_ptr<domain>&& own, Op op) : executor(*own, std::move(op), std::move(own)) {
    connect();
  }

  static options fixed(options opt) {
    if constexpr (Fixed != mechanism::automatic) opt.how = Fixed;
    return opt;
  }

  // A single-cell operator has no lanes that other mechanisms of several cells would notice.
  static bool joins(const domain& data) {
    const auto how = data.how();
    return !data.may_move() &&
           (how == mechanism::plain || how == mechanism::locks || how == mechanism::one_lock);
  }

  void connect() {
    auto& w = parts_.w;
    if (w.size() == 1) return;
    if constexpr (filtered<Op>) {
      const auto entries = parts_.data.asked().sent_filter ? w.options().filter_entries : 0;
      for (auto& k : parts_.workers) k.value.filter = sent_filter_of<Op>(entries);
    }
    if constexpr (combining<Op>) {
      const auto entries = std::min(w.options().filter_entries, parts_.most_combined);
      for (auto& k : parts_.workers) k.value.combined = {entries, ~std::uint64_t{0}};
    }
    if constexpr (fire_and_return<Op>) {
      using path = typename executor_parts<Op>::way::path;
      parts_.out.emplace(
          w,
          [this](worker_t k, rank_t from, std::span<const typename path::asked> span) {
            with_lane(k, [&](auto& lane) {
              for (const auto& q : span) lane.arrived(q.question, {from, q.by});
            });
          },
          [this](worker_t k, std::span<const typename path::replied> span) {
            with_lane(k, [&](auto& lane) {
              for (const auto& a : span) lane.answered(a.to, a.answer);
            });
          });
    } else {
      parts_.out.emplace(w, parts_.reduce, [this](worker_t k, std::span<const message> span) {
        with_lane(k, [&](auto& lane) {
          for (const auto& m : span) lane.arrived(m, {});
        });
      });
    }
  }

  [[nodiscard]] const tuner* tuner_now() const noexcept {
    return parts_.workers[0].pace.of(parts_.data.how());
  }
  [[nodiscard]] choice now() const noexcept {
    const auto* t = tuner_now();
    return t ? t->best() : parts_.data.choices().start_of(parts_.data.how());
  }

  template <class Body>
  void with_lane(worker_t k, Body&& body) {
    auto& data = parts_.data;
    const auto& plan = data.choices();
    const auto how = data.how_in(parts_.w.messages().epoch(), seat_);
    if (!plan.tunes_workers()) {
      run_lane(k, body, {plan.start_of(how), false});
      return;
    }
    pace::span span(parts_.workers[k].pace, plan, how, data.may_move(), parts_.w.counters(), k);
    const auto [operators, timed] = run_lane(k, body, span.by());
    data.count_work(seat_, k, operators, span.end(operators, timed));
  }

  // Whether lanes by this mechanism are compiled: what may stand in for htm too.
  static constexpr bool may_be(mechanism how) noexcept {
    const bool instead = single_cell<Op> ? how == mechanism::atomics
                                         : how == mechanism::stm || how == mechanism::locks;
    return Fixed == mechanism::automatic || Fixed == how || (Fixed == mechanism::htm && instead);
  }

  // Whether there is a lane for each mechanism of a domain that starts so.
  static constexpr bool compiled_for(mechanism first, bool may_move) noexcept {
    if (Fixed == mechanism::htm) return first == Fixed || may_move;
    return Fixed == mechanism::automatic || (first == Fixed && !may_move);
  }

  struct lane_result {
    std::uint64_t operators = 0;
    span_work timed;
  };

  template <class Body>
  lane_result run_lane(worker_t k, Body& body, const tuner::step& by) {
    const auto how = by.way.how;
    auto& data = parts_.data;
    if constexpr (may_be(mechanism::plain)) {
      if (how == mechanism::plain) return in_lane(k, body, by, commit_plain(data, k));
    }
    if constexpr (single_cell<Op> && may_be(mechanism::atomics)) {
      const bool at_once = !by.measured && by.way.grain == 1 && !data.emulation();
      if (how == mechanism::atomics && at_once)
        return in_lane(k, body, by, commit_atomics(data, k));
    }
    if constexpr (may_be(mechanism::htm)) {
      if (how == mechanism::htm && data.emulation())
        return in_lane(k, body, by, commit_emulated_htm(data, k));
      if (how == mechanism::htm) return in_lane(k, body, by, commit_htm(data, k));
    }
    if constexpr (multi_cell<Op> && may_be(mechanism::stm)) {
      if (how == mechanism::stm) return in_lane(k, body, by, commit_stm(data, k));
    }
    if constexpr (may_be(mechanism::locks)) {
      if (how == mechanism::locks && !by.measured)
        return in_lane(k, body, by, commit_locks(data, k));
    }
    if constexpr (Fixed == mechanism::automatic || Fixed == mechanism::one_lock ||
                  Fixed == mechanism::htm) {
      return in_lane(k, body, by, commit_chosen(data, k, how));
    } else {
      CAIRN_ASSERT(!"a lane for this mechanism");
      return {};
    }
  }

  template <class Commit, class Body>
  lane_result in_lane(worker_t k, Body& body, const tuner::step& by, Commit commit) {
    const auto go = [&](auto&& lane) -> lane_result {
      body(lane);
      const auto operators = lane.finish();
      return {operators, lane.timed()};
    };
    if constexpr (Commit::for_speed) {
      if (!parts_.out) return go(lane<Op, Commit, true>(parts_, k, commit, by));
    }
    return go(lane<Op, Commit, false>(parts_, k, commit, by));
  }

  // Tries again what is parked. Whether any of it went on.
  bool retry(worker_t k) {
    if constexpr (multi_cell<Op>) {
      auto& parked = parts_.workers[k].parked;
      if (parked.empty() || parts_.workers[k].parked_in != parts_.w.messages().epoch())
        return false;
      const auto again = std::exchange(parked, {});
      with_lane(k, [&](auto& lane) {
        for (const auto& p : again) lane.arrived(p.m, p.from);
      });
      am::release(parts_.w, k, again.size());
      return parked.size() < again.size();
    }
    return false;
  }

  std::unique_ptr<domain> own_;  // of a single-cell operator that names none
  executor_parts<Op> parts_;
  std::size_t seat_;  // in the domain
  [[no_unique_address]] detail::parking_of<Op> lot_;
};

/// executor visits(world, visit{...}) and executor moves(domain, move{...}) run by whatever the
/// options or the domain say.
template <class Op>
executor(world&, Op) -> executor<Op>;
template <class Op>
executor(world&, Op, options) -> executor<Op>;
template <class Op>
executor(domain&, Op) -> executor<Op>;

}  // namespace cairn::activity
