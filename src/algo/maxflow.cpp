// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/capacities.hpp"
#include "algo/height_labels.hpp"
#include "algo/preflow.hpp"

namespace cairn::algo {
namespace {

using label_t = std::uint64_t;
constexpr std::uint64_t epoch_price = 256;  // of each rank, in scanned arcs

template <class Id>
struct push_relabel {
  struct push {  // fire and return, may fail; changes two elements of the receiver's rank
    struct message {
      Id to, from;
      std::uint64_t arc, mirror;  // ids of the arc from -> to at either endpoint
      std::int64_t amount;
      label_t height;  // label of from; 0 for pushes from the source, which cannot fail
    };
    push_relabel& f;

    void elements(const message& m, auto&& each) const {
      each(f.flow.gained.at(m.to));
      each(f.flow.received.at(m.mirror));
    }
    // Labels change only between epochs. Returns the receiver's label.
    activity::outcome<label_t> attempt(auto& tx, const message& m) const {
      auto& gained = f.flow.gained;
      auto& received = f.flow.received;
      const auto label = f.labels.of.load(m.to);
      if (m.height != 0 && m.height != label + 1) return {false, label};
      tx.write(gained, m.to, tx.read(gained, m.to) + m.amount);
      tx.write(received, m.mirror, tx.read(received, m.mirror) + m.amount);
      return {true, label};
    }
    void after(const message& m, label_t, auto& at) { f.wake(at.worker(), m.to); }
    void answer(const message& m, const activity::outcome<label_t>& pushed) {
      const auto i = m.arc - f.flow.r.first_arc;
      f.labels.copies[i] = pushed.value;
      if (pushed.done) f.flow.record_push(m.from, i, m.amount);  // one push per arc and pulse
    }
  };

  push_relabel(world& world, const graph::dist_csr<Id>& g, Id from, Id to,
               const maxflow_options& opt)
      : w(world),
        s(from),
        t(to),
        flow(w, g),
        labels(w, g, flow),
        listed(flow.given.size()),
        active(w),
        planned(w),
        data(w, opt.activity),
        pushes(data, push{*this}) {}

  void wake(worker_t k, Id v) {
    if (v == s || v == t) return;
    auto& flag = listed[v - flow.r.first];
    if (!std::atomic_ref(flag).exchange(1, std::memory_order_relaxed)) active.add(k, v);
  }

  // Plans pushes of v's excess, after relabelling v if no push is possible. If the copy of a
  // neighbor's label is too low, the push fails and its answer updates the copy. Returns the
  // number of arcs scanned for relabelling.
  std::uint64_t plan(worker_t k, Id v) {
    const auto& r = flow.r;
    const auto height = labels.of.load(v);
    if (plan_pushes(k, v, height)) return 0;
    auto lowest = residual_search<Id>::far;
    for (auto i = r.begin(v); i < r.end(v); ++i) {
      if (flow.room(i) > 0) lowest = std::min(lowest, labels.copies[i]);
    }
    const auto num_arcs = r.end(v) - r.begin(v);
    w.counters().add(k, obs::counter::edges, num_arcs);
    const auto lifted = std::max(height, lowest + 1);
    labels.of.store(v, lifted);
    labels.current[v - r.first] = 0;
    plan_pushes(k, v, lifted);
    return num_arcs;
  }
  // Begins at v's current arc: while v's label stays, no arc before it can carry a push, because
  // labels only rise, and an arc gains room only by a push from a higher neighbor. (The copy of
  // that neighbor's label may be too low; it is noticed when v has no other arc left.) Returns
  // false if no push is possible.
  bool plan_pushes(worker_t k, Id v, label_t height) {
    const auto& r = flow.r;
    const auto begin = r.begin(v) + labels.current[v - r.first];
    auto left = flow.excess(v);
    auto i = begin;
    bool any = false;
    for (; i < r.end(v) && left > 0; ++i) {
      if (flow.room(i) <= 0 || labels.copies[i] >= height) continue;
      left -= plan_push(k, v, i, std::min(left, flow.room(i)), height);
      any = true;
      if (left == 0) break;
    }
    labels.current[v - r.first] = i - r.begin(v);
    w.counters().add(k, obs::counter::edges, i - begin);
    return any || left == 0;
  }
  std::int64_t plan_push(worker_t k, Id v, std::uint64_t i, std::int64_t amount, label_t height) {
    const auto& arc = flow.r.arcs[i];
    planned.add(k, {arc.target, v, flow.r.first_arc + i, arc.mirror, amount, height});
    return amount;
  }

  void run_plans() {
    traverse::push_each(
        w, pushes, planned.take(), [](const auto& m, auto& send) { send(m); }, 50);
  }

  void saturate_source_arcs() {
    if (flow.gained.owns(s)) {
      for (auto i = flow.r.begin(s); i < flow.r.end(s); ++i) {
        if (flow.room(i) > 0) plan_push(main_worker, s, i, flow.room(i), 0);
      }
    }
    run_plans();
  }

  std::uint64_t pulse(std::span<const Id> vertices) {
    task::per_worker<std::uint64_t> scanned(w.workers());
    const auto plan_one = [&](worker_t k, Id v) {
      listed[v - flow.r.first] = 0;
      scanned[k] += plan(k, v);
    };
    traverse::for_each_of(w, vertices, plan_one, flow.r.ns_of_row());
    run_plans();
    for (const Id v : vertices) {
      if (flow.excess(v) > 0) wake(main_worker, v);
    }
    std::uint64_t arcs = 0;
    for (auto& part : scanned) arcs += part.value;
    return arcs;
  }

  world& w;
  Id s, t;
  preflow<Id> flow;
  height_labels<Id> labels;
  std::vector<std::uint8_t> listed;
  traverse::worklist<Id> active;
  traverse::worklist<typename push::message> planned;
  activity::domain data;
  activity::executor<push> pushes;
};

}  // namespace

template <class Id>
maxflow_result<Id> maxflow(world& w, const graph::dist_csr<Id>& g,
                           const terminals<std::type_identity_t<Id>>& ends,
                           const maxflow_options& opt) {
  const auto [s, t] = ends;
  CAIRN_EXPECTS(s < g.num_vertices() && t < g.num_vertices() && s != t);
  CAIRN_EXPECTS(!g.weighted() || g.out().template weighted_by<std::int32_t>(),
                "capacities are 32-bit integers");
  if (g.weighted()) expect_capacities(w, g);
  push_relabel<Id> f(w, g, s, t, opt);
  f.saturate_source_arcs();
  const auto num_arcs = w.sum(std::uint64_t{f.flow.r.arcs.size()});
  const auto epoch_of_all = epoch_price * static_cast<std::uint64_t>(w.size());
  std::uint64_t pulses = 0, spent = 0, search_price = 0;
  for (auto active = f.active.take(); w.any(!active.empty()); active = f.active.take(), ++pulses) {
    if (spent >= search_price) {
      search_price = num_arcs + f.labels.make_exact(s, t) * epoch_of_all;
      spent = 0;
    }
    spent += w.sum(f.pulse(active)) + epoch_of_all;
  }
  f.labels.make_exact(s, t);
  pgas::vertex_map<std::uint32_t> source_side(w, g.partition(), 0);
  traverse::for_each_own(w, source_side, [&](worker_t, std::uint64_t v) {
    source_side.store(v, f.labels.of.load(v) >= g.num_vertices() ? 1 : 0);
  });
  std::int64_t value = 0;
  for (const auto x : w.all_gather(f.labels.of.owns(t) ? f.flow.excess(t) : 0)) value += x;
  return {value, f.flow.arcs(w), std::move(source_side), pulses, f.labels.searches, f.pushes.ran()};
}

template maxflow_result<std::uint32_t> maxflow(world&, const graph::dist_csr<std::uint32_t>&,
                                               const terminals<std::uint32_t>&,
                                               const maxflow_options&);
template maxflow_result<std::uint64_t> maxflow(world&, const graph::dist_csr<std::uint64_t>&,
                                               const terminals<std::uint64_t>&,
                                               const maxflow_options&);

}  // namespace cairn::algo
