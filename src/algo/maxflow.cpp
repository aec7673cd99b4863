// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/edge_map.hpp>

#include "algo/residual_graph.hpp"

namespace cairn::algo {
namespace {

using label_t = std::uint64_t;
constexpr label_t far = ~label_t{0};
constexpr std::uint64_t pulse_price = 256;  // a pulse costs as much as a look at so many arcs

template <class Id>
struct push_relabel {
  struct push {  // fire and return, may fail; changes both where the receiver lives
    struct message {
      Id to, from;
      std::uint64_t arc, mirror;  // from -> to, as seen by either
      std::int64_t amount;
      label_t height;  // of from; 0 for what the source gives, which nobody refuses
    };
    push_relabel& f;

    void elements(const message& m, auto&& each) const {
      each(f.gained.at(m.to));
      each(f.received.at(m.mirror));
    }
    // Labels change between epochs only. Returns the receiver's.
    activity::outcome<label_t> attempt(auto& tx, const message& m) const {
      const auto label = f.label.load(m.to);
      if (m.height != 0 && m.height != label + 1) return {false, label};
      tx.write(f.gained, m.to, tx.read(f.gained, m.to) + m.amount);
      tx.write(f.received, m.mirror, tx.read(f.received, m.mirror) + m.amount);
      return {true, label};
    }
    void after(const message& m, label_t, auto& at) { f.wake(at.worker(), m.to); }
    void answer(const message& m, const activity::outcome<label_t>& pushed) {
      const auto i = m.arc - f.r.first_arc;
      f.copies[i] = pushed.value;
      if (!pushed.done) return;
      f.sent[i] += m.amount;  // one push an arc and pulse
      std::atomic_ref(f.given[m.from - f.r.first]).fetch_add(m.amount, std::memory_order_relaxed);
    }
  };

  struct visit {  // of a search
    struct message {
      Id v;
      label_t distance;
    };
    push_relabel& f;

    auto cell(const message& m) const { return f.distance.at(m.v); }
    bool wanted(label_t found, const message&) const { return found == far; }
    bool attempt(auto d, const message& m) const { return d.claim(far, m.distance) == far; }
    void after(const message& m, auto& at) { f.next[at.worker()].push_back(m.v); }
  };

  struct label_update {
    std::uint64_t arc;
    label_t label;
  };

  push_relabel(world& world, const graph::dist_csr<Id>& graph, Id from, Id to,
               const maxflow_options& opt)
      : w(world),
        g(graph),
        s(from),
        t(to),
        n(graph.num_vertices()),
        r(w, g),
        label(w, g.partition(), 0),
        distance(w, g.partition(), far),
        gained(w, g.partition(), 0),
        received(w, r.offsets, 0),
        given(gained.local().size()),
        sent(r.arcs.size()),
        copies(r.arcs.size()),
        listed(gained.local().size()),
        next(w.workers()),
        plans(w.workers()),
        data(w, opt.activity),
        pushes(data, push{*this}),
        visits(w, visit{*this}),
        label_updates(w, [this](worker_t, std::span<const label_update> batch) {
          for (const auto& m : batch) copies[m.arc - r.first_arc] = m.label;
        }) {}

  [[nodiscard]] std::int64_t room(std::uint64_t i) const {
    return r.arcs[i].there - sent[i] + std::as_const(received).local()[i];
  }
  [[nodiscard]] std::int64_t excess(Id v) const {
    return std::as_const(gained).local()[v - r.first] - given[v - r.first];
  }

  void wake(worker_t k, Id v) {
    if (v == s || v == t) return;
    auto& flag = listed[v - r.first];
    if (!std::atomic_ref(flag).exchange(1, std::memory_order_relaxed)) next[k].push_back(v);
  }
  std::vector<Id> take_next() {
    std::vector<Id> all;
    for (auto& part : next) {
      all.insert(all.end(), part.value.begin(), part.value.end());
      part.value.clear();
    }
    return all;
  }

  // Breadth first against residual arcs: distances to `root`, from `start` on, of vertices that
  // have none yet. What may flow u -> v is known at v too: all that may flow between them is.
  void search(Id root, label_t start) {
    std::vector<Id> frontier;
    if (distance.owns(root)) {
      distance.store(root, start);
      frontier.push_back(root);
    }
    for (label_t d = start + 1; w.any(!frontier.empty()); ++d) {
      am::epoch epoch(w);
      w.parallel_for(frontier.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
        visits.spawn(k, [&](auto& send) {
          for (const Id v : std::span(frontier).subspan(begin, end - begin)) {
            for (auto i = r.begin(v); i < r.end(v); ++i) {
              if (r.arcs[i].there + r.arcs[i].back > room(i)) send({r.arcs[i].target, d});
            }
          }
        });
      });
      epoch.close();
      frontier = take_next();
    }
  }

  // Makes labels exact and tells all neighbours. Who reaches t is then below n.
  void search_both() {
    ++searches;
    std::fill(distance.local().begin(), distance.local().end(), far);
    if (distance.owns(s)) distance.store(s, n);
    search(t, 0);
    search(s, n);
    std::copy(distance.local().begin(), distance.local().end(), label.local().begin());
    am::epoch epoch(w);
    w.parallel_for(given.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      auto tell = label_updates.from(k);
      for (auto v = r.first + begin; v < r.first + end; ++v) {
        for (auto i = r.begin(v); i < r.end(v); ++i) {
          tell(g.partition().owner(r.arcs[i].target), {r.arcs[i].mirror, label.load(v)});
        }
      }
    });
    epoch.close();
  }

  // Pushes for all of v's excess that has where to go; lifts v first if there is nowhere. Where a
  // copy says more than one lower it is old: the push will be refused and bring the label.
  // Returns the arcs that lifting looked at.
  std::uint64_t plan(Id v, std::vector<typename push::message>& out) {
    auto left = excess(v);
    auto height = label.load(v);
    label_t lowest = far;
    for (auto i = r.begin(v); i < r.end(v); ++i) {
      if (room(i) > 0) lowest = std::min(lowest, copies[i]);
    }
    const bool lift = lowest >= height;
    if (lift) label.store(v, height = lowest + 1);
    for (auto i = r.begin(v); i < r.end(v) && left > 0; ++i) {
      if (room(i) <= 0 || copies[i] >= height) continue;
      const auto amount = std::min(left, room(i));
      out.push_back({r.arcs[i].target, v, r.first_arc + i, r.arcs[i].mirror, amount, height});
      left -= amount;
    }
    return lift ? r.end(v) - r.begin(v) : 0;
  }

  void run_plans() {
    std::vector<typename push::message> todo;
    for (auto& part : plans) {
      todo.insert(todo.end(), part.value.begin(), part.value.end());
      part.value.clear();
    }
    am::epoch epoch(w);
    w.parallel_for(todo.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      pushes.spawn(k, [&](auto& send) {
        for (auto i = begin; i < end; ++i) send(todo[i]);
      });
    });
    epoch.close();
  }

  void give_all_from_source() {
    if (gained.owns(s)) {
      for (auto i = r.begin(s); i < r.end(s); ++i) {
        if (room(i) <= 0) continue;
        const auto& arc = r.arcs[i];
        plans[0].push_back({arc.target, s, r.first_arc + i, arc.mirror, room(i), 0});
      }
    }
    run_plans();
  }

  std::uint64_t pulse(const std::vector<Id>& active) {
    task::per_worker<std::uint64_t> looked(w.workers());
    w.parallel_for(active.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      for (auto i = begin; i < end; ++i) {
        listed[active[i] - r.first] = 0;
        looked[k] += plan(active[i], plans[k]);
      }
    });
    run_plans();
    std::uint64_t arcs = 0;
    for (auto& part : looked) arcs += part.value;
    for (const Id v : active) {
      if (excess(v) > 0) wake(0, v);
    }
    return arcs;
  }

  maxflow_result<Id> run() {
    give_all_from_source();
    const auto enough = w.sum(std::uint64_t{r.arcs.size()});
    std::uint64_t pulses = 0, looked = enough;
    for (auto active = take_next(); w.any(!active.empty()); active = take_next(), ++pulses) {
      if (looked >= enough) {
        search_both();
        looked = 0;
      }
      looked += w.sum(pulse(active) + pulse_price);
    }
    search_both();
    maxflow_result<Id> result{0, {}, {w, g.partition(), 0}, pulses, searches, pushes.ran()};
    for (std::size_t v = 0; v < given.size(); ++v) {
      result.source_side.local()[v] = label.local()[v] >= n ? 1 : 0;
      for (auto i = r.offsets[v]; i < r.offsets[v + 1]; ++i) {
        const auto amount = r.arcs[i].there - room(i);
        if (amount > 0) {
          result.flow.push_back({static_cast<Id>(r.first + v), r.arcs[i].target, amount});
        }
      }
    }
    for (const auto x : w.all_gather(gained.owns(t) ? excess(t) : 0)) result.value += x;
    return result;
  }

  world& w;
  const graph::dist_csr<Id>& g;
  Id s, t;
  label_t n;
  residual_graph<Id> r;
  pgas::vertex_map<label_t> label, distance;
  pgas::vertex_map<std::int64_t> gained;  // by pushes; what was given is beside, booked by answers
  pgas::edge_map<std::int64_t> received;  // against the arc, by pushes
  std::vector<std::int64_t> given, sent;
  std::vector<label_t> copies;  // of the labels of arcs' targets; never too high
  std::vector<std::uint8_t> listed;
  task::per_worker<std::vector<Id>> next;
  task::per_worker<std::vector<typename push::message>> plans;
  activity::domain data;
  activity::executor<push> pushes;
  activity::executor<visit> visits;
  am::channel<label_update> label_updates;
  std::uint64_t searches = 0;
};

// Names the first edge that has none, on every rank.
template <class Id>
void expect_capacities(world& w, const graph::dist_csr<Id>& g) {
  struct arc {
    Id from = no_vertex<Id>, to = no_vertex<Id>;
    std::int32_t weight = 0;
  };
  const auto& out = g.out();
  arc mine;
  for (auto v = out.first(); v < out.last() && mine.weight == 0; ++v) {
    const auto weights = out.template weights_of<std::int32_t>(v);
    const auto bad = std::find_if(weights.begin(), weights.end(), [](auto c) { return c < 0; });
    if (bad == weights.end()) continue;
    const auto at = static_cast<std::size_t>(bad - weights.begin());
    mine = {static_cast<Id>(v), out.neighbors(v)[at], *bad};
  }
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  for (const auto& a : w.all_gather(mine)) {
    if (a.weight == 0) continue;
    throw input_error("the edge from " + id(a.from) + " to " + id(a.to) + " has weight " +
                      std::to_string(a.weight) + ", expected a capacity of at least 0");
  }
}

}  // namespace

template <class Id>
maxflow_result<Id> maxflow(world& w, const graph::dist_csr<Id>& g, Id s, Id t,
                           const maxflow_options& opt) {
  CAIRN_EXPECTS(s < g.num_vertices() && t < g.num_vertices() && s != t);
  CAIRN_EXPECTS(!g.weighted() || g.out().template weighted_by<std::int32_t>(),
                "capacities are whole numbers");
  if (g.weighted()) expect_capacities(w, g);
  return push_relabel<Id>(w, g, s, t, opt).run();
}

template maxflow_result<std::uint32_t> maxflow(world&, const graph::dist_csr<std::uint32_t>&,
                                               std::uint32_t, std::uint32_t,
                                               const maxflow_options&);
template maxflow_result<std::uint64_t> maxflow(world&, const graph::dist_csr<std::uint64_t>&,
                                               std::uint64_t, std::uint64_t,
                                               const maxflow_options&);

}  // namespace cairn::algo
