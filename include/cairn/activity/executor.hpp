// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <cairn/activity/commit_atomics.hpp>
#include <cairn/activity/commit_grouped.hpp>
#include <cairn/activity/commit_locks.hpp>
#include <cairn/activity/commit_plain.hpp>
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
/// A message to an element of this rank joins the worker's current group at once, without
/// serialisation. A message to a remote element passes the sent-filter and travels coalesced to its
/// owner, where the handler runs the span in groups. `wanted` is asked before grouping, outside any
/// transaction; the attempt checks the cell again through its verbs. Answers of a fire-and-return
/// operator travel back coalesced, to the worker that spawned the message. Messages from other
/// ranks run on any worker of this rank, or with delivery::owner on the one that owns the element
/// (delivery.hpp). The mechanism is selected once per chunk or span, so the inner loop is compiled
/// for it. Unless a mechanism or M is requested, the domain's plan chooses it from the measured
/// time of chunks and spans.
///
/// Op          an operator (operator.hpp); shared by the workers
/// Fixed       the only mechanism to compile. `automatic` compiles all mechanisms that can make Op
///             atomic and chooses one in the constructor. A mechanism that cannot is a compile
///             error.
/// Collective  constructor and destructor; spawning only while an epoch is open
/// Messages    one per spawn to a remote element that passes the filter. A fire-and-return operator
///             has no filter, and each of its messages is answered
/// Memory      per worker, allocated on first use: groups of at most 512 messages and 64 KiB, or
///             of one larger message; the sent-filter; channel blocks; the unanswered messages to
///             other ranks
/// Throws      contract_violation from spawn() on the progress thread or outside an epoch; from
///             spawn() or a handler if elements() names an element of this rank and one of another
/// Source      [AAM15] sections 3 and 4: coarsening and coalescing of activities
template <class Op, mechanism Fixed = mechanism::automatic>
class executor {
  static_assert(
      single_cell<Op> || multi_cell<Op>,
      "an operator has cell, attempt and optionally wanted (one cell of at most 8 bytes), "
      "or elements and attempt (several)");
  static_assert(can_run<Op, Fixed>,
                "this mechanism cannot keep the operator's promise: several cells do not change "
                "in one atomic instruction");
  static_assert(!sortable<Op> || !fire_and_return<Op>,
                "`before` is for fire-and-forget operators: buffers of questions are not sorted");
  static_assert(!declares_sends<Op> || (single_cell<Op> && !fire_and_return<Op> && has_after<Op>),
                "only a single-cell, fire-and-forget operator with `after` declares `sends`");
  static_assert(!declares_prefiltered<Op> || filtered<Op>,
                "`prefiltered` is for single-cell, fire-and-forget operators with `wanted`");
  static_assert(
      !names_key<Op> || combining<Op>,
      "`key` is for fire-and-forget operators with `combined`, an aggregator whose values "
      "are messages");

 public:
  using message = typename Op::message;

  /// For a single-cell operator in an implicit domain.
  /// Throws    usage_error if the mechanism cannot run here
  executor(world& w, Op op, options opt = {}) requires single_cell<Op>
      : executor(std::make_unique<domain>(w, fixed(opt), cells::one, to_owners(w)), std::move(op)) {
  }

  /// For an operator in an explicit domain, which determines the mechanism.
  /// Throws    usage_error if Fixed is not the mechanism requested for the domain, or if a
  ///           single-cell operator joins a domain that may run anything but plain, locks or
  ///           one_lock
  executor(domain& data, Op op) : executor(data, std::move(op), nullptr) {
    if (!compiled_for(data.chosen_mechanism(), data.may_change_mechanism())) {
      throw usage_error("an operator that is compiled only for mechanism " +
                        std::string(name(Fixed)) + " cannot join a domain that runs " +
                        std::string(name(data.chosen_mechanism())));
    }
    if (single_cell<Op> && !joins(data)) {
      throw usage_error(
          "a single-cell operator can only join a domain with the requested mechanism plain, locks "
          "or one-lock, but this domain runs " +
          std::string(name(data.chosen_mechanism())));
    }
    connect();
  }

  ~executor() { parts_.data.leave(operator_number_); }
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Calls body(spawn) on worker k; spawn(message) sends the message to the element's owner.
  /// Returns when the messages to elements of this rank have taken effect. If the body returns a
  /// number, such as that of the edges that it followed, mechanisms are compared by the time per
  /// edge, otherwise per operator that ran.
  template <class Body>
  void spawn(worker_t k, Body&& body) {
    CAIRN_EXPECTS(k < parts_.w.workers(), "only workers spawn operators");
    CAIRN_EXPECTS(parts_.w.messages().epoch_open(), "spawn() needs an open epoch");
    with_lane(k, parts_.out ? span_kind::mixed : span_kind::operators, body);
  }

  /// The current mechanism and the operators per activity (1 if there are no groups), on worker 0.
  /// Other workers may differ.
  [[nodiscard]] mechanism chosen_mechanism() const noexcept { return now().mechanism; }
  [[nodiscard]] std::size_t grain() const noexcept {
    return std::min(now().grain, group_room<Op>::size);
  }
  /// The reason for the choice, for reports. Called outside epochs.
  [[nodiscard]] std::string why() const {
    auto text = parts_.data.why();
    if (const auto* t = tuner_now()) text += trial_report(*t);
    return text;
  }
  /// chosen_mechanism(), grain() and why() together. Called outside epochs.
  [[nodiscard]] activity::ran ran() const { return {chosen_mechanism(), grain(), why()}; }

 private:
  executor(domain& data, Op op, std::unique_ptr<domain>&& own)
      : own_(std::move(own)),
        parts_(data, std::move(op)),
        operator_number_(data.join()),
        parking_(data.of(), [this](worker_t k) { return retry(k); }) {}

  executor(std::unique_ptr<domain>&& own, Op op) : executor(*own, std::move(op), std::move(own)) {
    connect();
  }

  static options fixed(options opt) {
    if constexpr (Fixed != mechanism::automatic) opt.mechanism = Fixed;
    return opt;
  }

  // Whether each message goes to the worker that owns its element. The ranks' workers of one number
  // share a channel, so all ranks need as many. Collective.
  static bool to_owners(world& w) {
    if constexpr (fire_and_return<Op> || !may_run<Op, Fixed>(mechanism::plain)) return false;
    if (w.options().deliver != delivery::owner) return false;
    const auto here = static_cast<std::uint64_t>(w.workers()), most = w.max(here);
    return !w.any(here != most) && most > 1;
  }

  // Whether a single-cell operator may join the domain: it has no lanes for mechanisms that
  // multi-cell activities of the domain would notice.
  static bool joins(const domain& data) {
    const auto chosen = data.chosen_mechanism();
    return !data.may_change_mechanism() &&
           (chosen == mechanism::plain || chosen == mechanism::locks ||
            chosen == mechanism::one_lock);
  }

  auto arrived() {
    return [this](worker_t k, std::span<const message> span) {
      with_lane(k, span_kind::operators, [&](auto& lane) {
        for (const auto& m : parts_.in_order(k, span)) lane.arrived(m, {});
        return span.size();
      });
    };
  }

  void connect() {
    auto& w = parts_.w;
    if constexpr (single_cell<Op> && !fire_and_return<Op>) {
      const bool one_writer = own_ && own_->choices().first().mechanism == mechanism::plain;
      if (one_writer && w.workers() > 1) return parts_.connect_workers(arrived());
    }
    if (w.size() == 1) return;
    parts_.make_filters();
    if constexpr (combining<Op>) {
      const auto entries = std::min(w.options().filter_entries, parts_.max_combined);
      using am::capacity_choice;
      const auto saved = w.machines().count() > 1 ? capacity_choice::saving::large
                                                  : capacity_choice::saving::small;
      for (auto& k : parts_.workers) {
        using table = decltype(k.value.combined);
        k.value.combined = table({.entries = entries, .keys = ~std::uint64_t{0}}, saved);
      }
    }
    if constexpr (fire_and_return<Op>) {
      using path = typename executor_parts<Op>::message_path::path;
      parts_.out.emplace(
          w,
          [this](worker_t k, rank_t from, std::span<const typename path::ticketed_question> span) {
            with_lane(k, span_kind::operators, [&](auto& lane) {
              for (const auto& q : span) lane.arrived(q.question, {from, q.by});
              return span.size();
            });
          },
          [this](worker_t k, std::span<const typename path::ticketed_answer> span) {
            with_lane(k, span_kind::mixed, [&](auto& lane) {
              for (const auto& a : span) lane.answered(a.to, a.answer);
            });
          });
    } else {
      parts_.out.emplace(w, parts_.reduce, arrived(), am::channel_options{.sends = !silent<Op>});
    }
  }

  [[nodiscard]] const tuner* tuner_now() const noexcept {
    return parts_.workers[main_worker].pace.of(parts_.data.chosen_mechanism());
  }
  [[nodiscard]] choice now() const noexcept {
    const auto* t = tuner_now();
    return t ? t->best() : parts_.data.choices().start_of(parts_.data.chosen_mechanism());
  }

  template <class Body>
  void with_lane(worker_t k, span_kind kind, Body&& body) {
    auto& data = parts_.data;
    const auto& plan = data.choices();
    const auto chosen = data.mechanism_in(parts_.w.messages().epoch(), operator_number_, k);
    try {
      if (!plan.tunes_workers()) {
        run_lane(k, body, plan.start_of(chosen));
        return;
      }
      pace::span span(parts_.workers[k].pace, plan, chosen, kind, parts_.w, k);
      const auto operators = run_lane(k, body, span.by());
      data.count_work(operator_number_, k, operators, span.end(operators));
    } catch (...) {
      parts_.workers[k].waiting.clear();  // they belong to an epoch that the exception ends
      throw;
    }
  }

  // Whether a lane is compiled for each mechanism that a domain starting with `first` may run.
  static constexpr bool compiled_for(mechanism first, bool may_change_mechanism) noexcept {
    if (Fixed == mechanism::htm) return first == Fixed || may_change_mechanism;
    return Fixed == mechanism::automatic || (first == Fixed && !may_change_mechanism);
  }

  template <class Body>
  std::uint64_t run_lane(worker_t k, Body& body, const choice& by) {
    const auto chosen = by.mechanism;
    auto& data = parts_.data;
    constexpr auto compiled = [](mechanism m) { return may_run<Op, Fixed>(m); };
    if constexpr (compiled(mechanism::plain)) {
      if constexpr (single_cell<Op> && !fire_and_return<Op>) {
        if (!parts_.to_worker.empty()) {
          return run(lane<Op, commit_plain, reach::workers>(parts_, k, {data, k}, by.grain), body);
        }
      }
      if (chosen == mechanism::plain) return in_lane(k, body, by.grain, commit_plain(data, k));
    }
    if constexpr (compiled(mechanism::atomics)) {
      if (chosen == mechanism::atomics && !data.emulation())
        return in_lane(k, body, by.grain, commit_atomics(data, k));
    }
    if constexpr (compiled(mechanism::locks)) {
      if (chosen == mechanism::locks) return in_lane(k, body, by.grain, commit_locks(data, k));
    }
    if constexpr (Fixed != mechanism::plain && Fixed != mechanism::locks) {
      return in_lane(k, body, by.grain, commit_grouped<Fixed>(data, k, chosen));
    } else {
      CAIRN_ASSERT(!"a lane for this mechanism");
      return 0;
    }
  }

  template <class Commit, class Body>
  std::uint64_t in_lane(worker_t k, Body& body, std::size_t grain, Commit commit) {
    if (!parts_.out) return run(lane<Op, Commit, reach::alone>(parts_, k, commit, grain), body);
    return run(lane<Op, Commit, reach::ranks>(parts_, k, commit, grain), body);
  }

  template <class Lane, class Body>
  static std::uint64_t run(Lane&& lane, Body& body) {
    if constexpr (std::is_integral_v<decltype(body(lane))>) {
      const std::uint64_t tried = body(lane);
      return std::max(tried, lane.finish());
    } else {
      body(lane);
      return lane.finish();
    }
  }

  // Retries the parked messages. Returns whether any of them made progress.
  bool retry(worker_t k) {
    if constexpr (multi_cell<Op>) {
      auto& parked = parts_.workers[k].parked;
      if (parked.empty() || parts_.workers[k].parked_in != parts_.w.messages().epoch())
        return false;
      const auto again = std::exchange(parked, {});
      with_lane(k, span_kind::mixed, [&](auto& lane) {
        for (const auto& p : again) lane.arrived(p.m, p.from);
      });
      am::release(parts_.w, k, again.size());
      return parked.size() < again.size();
    }
    return false;
  }

  std::unique_ptr<domain> own_;  // only for a single-cell operator that names no domain
  executor_parts<Op> parts_;
  std::size_t operator_number_;  // its number in the domain
  [[no_unique_address]] detail::parking_of<Op> parking_;
};

/// Deduces an executor whose mechanism is determined by the options or the domain: executor
/// visits(world, visit{...}); executor moves(domain, move{...}).
template <class Op>
executor(world&, Op) -> executor<Op>;
template <class Op>
executor(world&, Op, options) -> executor<Op>;
template <class Op>
executor(domain&, Op) -> executor<Op>;

}  // namespace cairn::activity
