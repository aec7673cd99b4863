// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/components.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/afforest.hpp"
#include "algo/label_propagation.hpp"
#include "algo/root_graph.hpp"

namespace cairn::algo {
namespace {

template <class Id>
struct component_search {
  component_search(world& world, const graph::dist_csr<Id>& graph, const components_options& opt)
      : w(world), g(graph), options(opt), label(w, g.partition(), no_vertex<Id>) {}

  void each_own(auto&& f) { traverse::for_each_own(w, g.out(), f); }

  void propagate(pgas::vertex_map<Id>& labels, auto&& neighbors) {
    label_propagation<Id> travel(w, labels, options.activity);
    rounds = travel.run(neighbors);
    ran = travel.ran();
  }

  void propagation() {
    CAIRN_EXPECTS(g.has_in(), "build or load the graph with .inverse = true");
    each_own([&](worker_t, Id v) { label.store(v, v); });
    propagate(label, [&](Id v, auto&& f) {
      for (const Id u : g.out().neighbors(v)) f(u);
      if (!g.directed()) return;
      for (const Id u : g.in().neighbors(v)) f(u);
    });
  }

  void afforest_of_each_rank() {
    each_own([t = trees<Id>(label)](worker_t, Id v) { t.cell(v) = v; });
    afforest<Id>(w, g, label).run();
    ran = w.workers() == 1 ? activity::ran{activity::mechanism::plain, 1, "the rank has one worker"}
                           : activity::ran{activity::mechanism::atomics, 1,
                                           "trees of a rank are joined by compare-and-swap"};
    if (w.size() == 1) return;
    const root_graph<Id> roots(w, g, label);
    pgas::vertex_map<Id> least(w, g.partition(), no_vertex<Id>);  // of each root's component
    each_own([&](worker_t, Id v) {
      if (label.load(v) == v) least.store(v, v);
    });
    propagate(least, [&](Id v, auto&& f) { roots.neighbors(v, f); });
    each_own([&](worker_t, Id v) { label.store(v, least.load(label.load(v))); });
  }

  // Counts the roots. If one component has most of all vertices, some rank's sample names it.
  void measure() {
    const auto named = w.all_gather(frequent_value<Id>(std::as_const(label).local()));
    std::vector<Id> candidates(named.begin(), named.end());
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (std::size_t i = 0; i < candidates.size() && largest == 0; ++i) {
      const auto [roots, size] = count(candidates[i]);
      num_components = roots;
      if (size >= g.num_vertices() - size) largest = size;
    }
    if (largest == 0) largest = largest_of_all_sizes();
  }

  struct counts {
    std::uint64_t roots = 0, vertices = 0;  // of all, with a label
  };

  counts count(Id root) {
    task::per_worker<counts> parts(w.workers());
    const auto first = label.first();
    w.parallel_for(label.local().size(),
                   [&, t = trees<Id>(label)](worker_t k, std::size_t begin, std::size_t end) {
                     counts c;
                     for (auto v = static_cast<Id>(first + begin); v < first + end; ++v) {
                       c.roots += t.parent(v) == v ? 1 : 0;
                       c.vertices += t.parent(v) == root ? 1 : 0;
                     }
                     parts[k] = {parts[k].roots + c.roots, parts[k].vertices + c.vertices};
                   });
    counts mine;
    for (const auto& p : parts) {
      mine = {mine.roots + p.value.roots, mine.vertices + p.value.vertices};
    }
    return {w.sum(mine.roots), w.sum(mine.vertices)};
  }

  struct enlarge {  // the operator: a component has so many vertices more
    struct message {
      Id root, vertices;
    };
    pgas::vertex_map<Id>& size;

    auto cell(const message& m) const { return size.at(m.root); }
    bool wanted(Id, const message&) const { return true; }
    void attempt(auto cell, const message& m) const { cell.add(m.vertices); }
  };

  std::uint64_t largest_of_all_sizes() {
    pgas::vertex_map<Id> size(w, g.partition(), 0);
    activity::executor<enlarge, activity::mechanism::atomics> add(w, enlarge{size},
                                                                  {.sent_filter = false});
    am::epoch epoch(w);
    w.parallel_for(label.local().size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      auto part = label.local().subspan(begin, end - begin);
      std::vector<Id> labels(part.begin(), part.end());
      std::sort(labels.begin(), labels.end());
      add.spawn(k, [&](auto& send) {
        for (auto at = labels.begin(); at != labels.end();) {
          const auto next = std::upper_bound(at, labels.end(), *at);
          send({*at, static_cast<Id>(next - at)});
          at = next;
        }
      });
    });
    epoch.close();
    const auto all = std::as_const(size).local();
    return w.max(all.empty() ? 0 : std::uint64_t{*std::max_element(all.begin(), all.end())});
  }

  world& w;
  const graph::dist_csr<Id>& g;
  const components_options& options;
  pgas::vertex_map<Id> label;
  std::uint64_t num_components = 0, largest = 0, rounds = 0;
  activity::ran ran;
};

}  // namespace

template <class Id>
components_result<Id> components(world& w, const graph::dist_csr<Id>& g,
                                 const components_options& opt) {
  component_search<Id> s(w, g, opt);
  const bool travel = opt.method == components_method::propagation;
  if (travel) {
    s.propagation();
  } else {
    s.afforest_of_each_rank();
  }
  s.measure();
  const auto method = travel ? components_method::propagation : components_method::afforest;
  return {std::move(s.label), s.num_components, s.largest, s.rounds, method, std::move(s.ran)};
}

template components_result<std::uint32_t> components(world&, const graph::dist_csr<std::uint32_t>&,
                                                     const components_options&);
template components_result<std::uint64_t> components(world&, const graph::dist_csr<std::uint64_t>&,
                                                     const components_options&);

}  // namespace cairn::algo
