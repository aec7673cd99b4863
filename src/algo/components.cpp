// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include <cairn/algo/components.hpp>
#include <cairn/traverse/small_run.hpp>

#include "algo/afforest.hpp"
#include "algo/component_sizes.hpp"
#include "algo/minimum_labels.hpp"
#include "algo/rank_joining.hpp"

namespace cairn::algo {
namespace {

template <class Id>
struct component_search {
  component_search(world& world, const graph::dist_csr<Id>& graph, const components_options& opt)
      : w(world),
        g(graph),
        options(opt),
        label(w, g.partition(), no_vertex<Id>, [](std::uint64_t v) { return static_cast<Id>(v); }) {
  }

  void propagation() {
    g.expect_in();
    minimum_labels<Id> travel(w, label, options.activity);
    rounds = travel.run([&](Id v, auto&& f) {
      for (const Id u : g.out().neighbors(v)) f(u);
      if (!g.directed()) return;
      for (const Id u : g.in().neighbors(v)) f(u);
    });
    ran = travel.ran();
  }

  void afforest_of_each_rank() {
    using activity::mechanism;
    afforest<Id> trees(w, g, label);
    if (w.size() > 1) {
      trees.run_on_sample();
      rounds = rank_joining<Id>(w, g, label).run();
      ran = {mechanism::atomics, 1, "trees of several ranks are joined by compare-and-swap"};
      return;
    }
    trees.run();
    if (w.workers() > 1) {
      ran = {mechanism::atomics, 1, "trees are joined by stores, then by compare-and-swap"};
    } else {
      ran = {mechanism::plain, 1, "one worker joins the trees"};
    }
  }

  world& w;
  const graph::dist_csr<Id>& g;
  const components_options& options;
  pgas::vertex_map<Id> label;
  std::uint64_t rounds = 0;
  activity::ran ran;
};

}  // namespace

template <class Id>
components_result<Id> components(world& w, const graph::dist_csr<Id>& g,
                                 const components_options& opt) {
  const bool travel = opt.method == components_method::propagation;
  std::optional<traverse::small_run> on_workers;
  if (!travel) on_workers.emplace(w, g, opt.activity, traverse::run_kind::components);
  component_search<Id> s(w, g, opt);
  if (travel) {
    s.propagation();
  } else {
    s.afforest_of_each_rank();
  }
  const component_sizes<Id> sizes(w, s.label);
  const auto method = travel ? components_method::propagation : components_method::afforest;
  return {std::move(s.label), sizes.num_components, sizes.largest, s.rounds, method,
          std::move(s.ran)};
}

template components_result<std::uint32_t> components(world&, const graph::dist_csr<std::uint32_t>&,
                                                     const components_options&);
template components_result<std::uint64_t> components(world&, const graph::dist_csr<std::uint64_t>&,
                                                     const components_options&);

}  // namespace cairn::algo
