// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cairn/activity/domain.hpp>
#include <cairn/activity/lane.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/parking.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/activity/single_cell.hpp>
#include <cairn/activity/worker_state.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/tm/lock_table.hpp>

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
/// fire-and-return operator travel back coalesced; messages that came from far and answers to
/// those that were spawned here run on any worker of this rank. The mechanism is switched
/// once per chunk or span, so the inner loop is compiled for it; where nothing else was asked for,
/// tuners choose it and M from what such chunks and spans took.
///
/// Op          an operator (operator.hpp); shared by the workers
/// Fixed       the only mechanism to compile; automatic compiles all that keep Op's promise
///             and chooses when constructed. One that cannot keep it does not compile.
/// Collective  constructor and destructor; spawning only while an epoch is open
/// Messages    one per spawn to a remote element that passes the filter; an answer to each of
///             a fire-and-return operator, which has no filter
/// Memory      per worker: a group of M messages, the sent-filter, channel blocks
/// Source      [AAM15] sections 3 and 4: coarsening and coalescing of activities
template <class Op, mechanism Fixed = mechanism::automatic>
class coarse {
  static_assert(single_cell<Op> || multi_cell<Op>,
                "an operator has cell, wanted and attempt (one cell of at most 8 bytes), or "
                "elements and attempt (several)");
  static_assert(can_run<Op, Fixed>,
                "this mechanism cannot keep the operator's promise: several cells do not change "
                "in one atomic instruction");

 public:
  using operator_type = Op;
  using message = typename Op::message;

  /// For a single-cell operator.
  /// Throws    usage_error if the mechanism cannot run here
  coarse(world& w, Op op, options opt = {}) requires single_cell<Op>
      : coarse(w, std::move(op), fixed(opt), resolve_single_cell(w, fixed(opt))) {}

  /// For a multi-cell operator, whose mechanism is its domain's.
  /// Throws    usage_error if Fixed is not what the domain was asked for
  coarse(domain& data, Op op) requires multi_cell<Op>
      : coarse(data.of(), &data, std::move(op), data.chosen()) {
    if (!compiled_for(how_, data.may_move())) {
      throw usage_error("an operator that is compiled for mechanism " + std::string(name(Fixed)) +
                        " alone needs a domain that was asked for it, and this one runs " +
                        std::string(name(how_)));
    }
  }

  /// Calls body(spawn) on worker k; spawn(message) sends to the element's owner. Returns when
  /// the messages to own elements have taken effect.
  template <class Body>
  void spawn(worker_t k, Body&& body) {
    with_lane(k, std::forward<Body>(body));
  }

  ~coarse() {
    if (domain_) domain_->leave(seat_);
  }
  coarse(const coarse&) = delete;
  coarse& operator=(const coarse&) = delete;

  /// The mechanism that runs and the operators per transaction (1 where there are none), on
  /// worker 0; workers may differ.
  [[nodiscard]] mechanism how() const noexcept { return now().how; }
  [[nodiscard]] std::size_t grain() const noexcept { return now().grain; }
  /// Why: for the report. Outside epochs.
  [[nodiscard]] std::string why() const {
    auto text = domain_ ? domain_->why() : why_;
    if (const auto* t = workers_[0].pace.of(how())) text += said_of(*t);
    return text;
  }

 private:
  template <class, class, bool>
  friend class lane;
  template <class, class>
  friend class group;
  friend struct by_locks;
  friend struct by_turn;

  coarse(world& w, domain* data, Op op, const options& opt)
      : world_(w),
        domain_(data),
        op_(std::move(op)),
        how_(opt.how),
        grain_(std::clamp<std::size_t>(opt.grain ? opt.grain : opt.start.htm_grain, 1, max_grain)),
        stm_grain_(opt.grain ? grain_ : opt.start.stm_grain),
        workers_(w.workers()) {
    if (domain_) seat_ = domain_->join();
    if (how_ == mechanism::locks && !domain_) own_locks_ = std::make_unique<tm::lock_table>();
    if (how_ == mechanism::one_lock && !domain_) {
      own_lock_ = std::make_unique<tm::fallback_lock>();
    }
    const auto emulate = how_ == mechanism::htm ? emulation_for(w, opt) : std::nullopt;
    if (emulate && !domain_) own_emulation_ = make_emulation(w.pool(), *emulate);
    if (emulate) emulation_ = domain_ ? domain_->emulation() : own_emulation_.get();
    for (worker_t k = 0; k < w.workers(); ++k) {
      auto& mine = workers_[k];
      mine.worker = k;
      if (how_ == mechanism::htm) mine.prepare_hardware(w, k, opt, emulate, emulation_);
      if (!domain_) continue;
      if (how_ == mechanism::locks || domain_->may_move()) mine.locks.emplace(locks());
    }
    prepare_tuners(opt);
    if constexpr (multi_cell<Op>) {
      lot_.emplace(w, [this](worker_t k) { return retry(k); });
    }
    if (w.size() == 1) return;
    if constexpr (filtered<Op>) {
      const auto entries = opt.sent_filter ? w.options().filter_entries : 0;
      for (auto& k : workers_) k.value.filter = sent_filter_of<Op>(entries);
    }
    channel_.emplace(w, [this](worker_t k, rank_t from, std::span<const message> batch) {
      with_lane(k, [&](auto& lane) {
        for (const auto& m : batch) lane.arrived(m, from);
      });
    });
    if constexpr (fire_and_return<Op>) {
      answers_.emplace(w, [this](worker_t k, std::span<const answer_to<Op>> batch) {
        with_lane(k, [&](auto& lane) {
          for (const auto& a : batch) lane.answered(a);
        });
      });
    }
  }

  coarse(world& w, Op op, const options& asked, mechanism how) requires single_cell<Op>
      : coarse(w, nullptr, std::move(op), with(asked, how)) {
    why_ = why_single_cell(w, asked);
    const auto ways = ways_of_single_cell(asked, how);
    if (ways.empty()) return;
    tuned_ = true;
    for (auto& k : workers_) k.value.pace.add(mechanism::automatic, ways);
  }

  static options fixed(options opt) {
    if constexpr (Fixed != mechanism::automatic) opt.how = Fixed;
    return opt;
  }
  static options with(options opt, mechanism how) {
    opt.how = how;
    return opt;
  }

  // Several cells: the domain chooses the mechanism, and each worker the grain of transactions.
  void prepare_tuners(const options& opt) {
    if (!domain_ || how_ == mechanism::plain) return;
    tuned_ = domain_->may_move();
    if (opt.grain != 0) return;
    for (const auto how : {mechanism::htm, mechanism::stm}) {
      if (how_ != how && !(domain_->may_move() && how == mechanism::stm)) continue;
      tuned_ = true;
      const candidate way{{how, grain_of(how)}, true};
      for (auto& k : workers_) k.value.pace.add(how, {&way, 1});
    }
  }

  [[nodiscard]] std::size_t grain_of(mechanism how) const noexcept {
    return how == mechanism::htm ? grain_ : how == mechanism::stm ? stm_grain_ : 1;
  }
  [[nodiscard]] choice now() const noexcept {
    const auto how = domain_ ? domain_->how() : how_;
    const auto* t = workers_[0].pace.of(how);
    return t ? t->best() : choice{how, grain_of(how)};
  }

  [[nodiscard]] relax_in relax() const noexcept { return {&world_.pool()}; }

  [[nodiscard]] tm::lock_table& locks() noexcept {
    return domain_ ? domain_->locks() : *own_locks_;
  }

  [[nodiscard]] tm::fallback_lock& one_lock() noexcept {
    return domain_ ? domain_->fallback() : *own_lock_;
  }

  void count_waits(worker_state<Op>& state, std::size_t n) noexcept {
    if (n > 0) world_.counters().add(state.worker, obs::counter::lock_waits, n);
  }

  void count_locks(worker_state<Op>& state, std::size_t stripes) noexcept {
    domain_->count_locks(state.worker, stripes);
  }

  template <class Body>
  void with_lane(worker_t k, Body&& body) {
    const auto how = domain_ ? domain_->how_in(world_.messages().epoch(), seat_) : how_;
    const choice otherwise{how, grain_of(how)};
    if (!tuned_) return run_lane(k, body, {otherwise, false});
    auto& pace = workers_[k].pace;
    const auto by = pace.begin(otherwise, domain_ && domain_->may_move());
    if (by.measured) pace.count_from(world_.counters(), k);
    run_lane(k, body, by);
    pace.end(world_.counters(), k);
    if (domain_) domain_->count_work(seat_, k, pace.operators_run, pace.measured);
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

  template <class Body>
  void run_lane(worker_t k, Body& body, const tuner::step& by) {
    const auto how = by.way.how;
    if constexpr (may_be(mechanism::plain)) {
      if (how == mechanism::plain) return in_lane<by_plain_access>(k, body, by);
    }
    if constexpr (single_cell<Op> && may_be(mechanism::atomics)) {
      const bool in_turn = by.measured || emulation_;
      if (how == mechanism::atomics && !in_turn) return in_lane<by_atomics>(k, body, by);
    }
    if constexpr (may_be(mechanism::htm)) {
      if (how == mechanism::htm && emulation_) return in_lane<by_emulated_sections>(k, body, by);
      if (how == mechanism::htm) return in_lane<by_sections>(k, body, by);
    }
    if constexpr (multi_cell<Op> && may_be(mechanism::stm)) {
      if (how == mechanism::stm) {
        workers_[k].prepare_software(world_, k, *domain_);
        return in_lane<by_stm>(k, body, by);
      }
    }
    if constexpr (may_be(mechanism::locks)) {
      if (how == mechanism::locks && !by.measured) return in_lane<by_locks>(k, body, by);
    }
    if constexpr (Fixed == mechanism::automatic || Fixed == mechanism::one_lock ||
                  Fixed == mechanism::htm) {
      workers_[k].turns = how;
      in_lane<by_turn>(k, body, by);
    } else {
      CAIRN_ASSERT(!"a lane for this mechanism");
    }
  }

  // A message that met a marker waits here, counted as one on its way, and is tried again
  // whenever its worker has nothing else to do.
  void park(worker_t k, const message& m, rank_t from) requires multi_cell<Op> {
    world_.messages().hold(k, 1);
    world_.counters().add(k, obs::counter::requeued);
    workers_[k].parked.push_back({m, from});
  }
  // Whether any of them went on.
  bool retry(worker_t k) requires multi_cell<Op> {
    auto& parked = workers_[k].parked;
    if (parked.empty()) return false;
    const auto again = std::exchange(parked, {});
    with_lane(k, [&](auto& lane) {
      for (const auto& p : again) lane.arrived(p.m, p.from);
    });
    world_.messages().release(k, again.size());
    return parked.size() < again.size();
  }

  template <class How, class Body>
  void in_lane(worker_t k, Body& body, const tuner::step& by) {
    const auto go = [&](auto&& lane) {
      body(lane);
      lane.finish();
    };
    if constexpr (How::for_speed) {
      if (!channel_) return go(lane<coarse, How, true>(*this, k, by));
    }
    go(lane<coarse, How, false>(*this, k, by));
  }

  world& world_;
  domain* domain_;
  Op op_;
  mechanism how_;
  std::size_t grain_, stm_grain_;
  std::size_t seat_ = 0;  // in the domain
  bool tuned_ = false;
  std::string why_;
  std::unique_ptr<tm::lock_table> own_locks_;
  std::unique_ptr<tm::fallback_lock> own_lock_;
  std::unique_ptr<tm::emulation> own_emulation_;
  tm::emulation* emulation_ = nullptr;  // the domain's, if there is one
  std::optional<am::channel<message>> channel_;
  [[no_unique_address]] detail::answer_channel_of<Op> answers_;
  [[no_unique_address]] detail::parking_of<Op> lot_;
  task::per_worker<worker_state<Op>> workers_;
};

}  // namespace cairn::activity
