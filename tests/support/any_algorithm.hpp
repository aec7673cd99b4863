// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <cairn/algo/algorithm.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

namespace cairn::support {

/// Random values for the word and vertex options of an algorithm. They may contradict each other.
inline algo::option_values random_values(const algo::algorithm& a, std::uint64_t n,
                                         random64& random) {
  algo::option_values given;
  for (const auto& o : a.options()) {
    if (random.below(2) == 0) continue;
    const auto name = std::string(o.name);
    if (!o.words.empty()) given[name] = std::string(o.words[random.below(o.words.size())]);
    if (o.type == "ID") given[name] = std::to_string(random.below(n));
  }
  return given;
}

/// Runs one algorithm on one small graph, over the ranks of a world, and verifies and judges the
/// result. Every rank draws the same numbers.
class any_run {
 public:
  any_run(world& w, const algo::algorithm& a, plain_graph g, random64& random)
      : w_(w), a_(a), weighted_(weighted(std::move(g), random)), graph_(shared(random)) {
    given_ = random_values(a, weighted_.graph.n, random);
    request_ = {.activity = a.info().several_cells ? random_multi_cell_activity(random, w.workers())
                                                   : random_activity(random, w.workers()),
                .seed = random(),
                .verify = random.below(2) == 0};
    const auto columns = a.columns();
    if (!columns.empty() && random.below(2) == 0) {
      request_.output = columns[random.below(columns.size())].name;
    }
  }

  /// Returns the fault, or "". Options that this graph or these ranks exclude are omitted.
  [[nodiscard]] std::string judge() {
    if (!bind()) {
      given_.clear();
      if (!bind()) return weighted_.graph.n < 2 ? "" : describe() + ": refused without options";
    }
    const auto found = run_->run();
    found->count();
    output_ = algo::gather(w_, *found);
    if (const auto wrong = a_.check_against_reference(input(), given_, output_); !wrong.empty()) {
      return describe() + ": " + wrong;
    }
    const auto wrong = found->verify();
    return wrong ? describe() + ": its verifier says " + *wrong : "";
  }

  [[nodiscard]] algo::ref::input input() const {
    const auto& g = weighted_.graph;
    return {g.n, g.directed, weighted_.edges, g.arcs()};
  }
  [[nodiscard]] const algo::ref::output& output() const { return output_; }
  [[nodiscard]] const algo::option_values& given() const { return given_; }
  [[nodiscard]] const graph::any_graph& graph() const { return graph_; }

  [[nodiscard]] std::string describe() const {
    auto text = std::string(a_.info().name);
    for (const auto& [name, value] : given_) text += " --" + name + " " + value;
    return text + " (" + support::describe(request_.activity) + ") on " + weighted_.graph.name +
           (weighted_.graph.directed ? ", directed" : "");
  }

 private:
  [[nodiscard]] weighted_graph weighted(plain_graph g, random64& random) const {
    const auto& needs = a_.info();
    if (!needs.undirected.empty()) g.directed = false;
    const auto kinds = needs.weights == algo::weights_read::none      ? 1u
                       : needs.weights == algo::weights_read::integer ? 2u
                                                                      : 3u;
    const int min_weight = needs.weights == algo::weights_read::any ? -4 : 0;
    return weigh(std::move(g), static_cast<weights>(random.below(kinds)), min_weight, random);
  }
  [[nodiscard]] graph::any_graph shared(random64& random) const {
    const auto blocks = random_partition(weighted_.graph.n, w_.size(), random);
    if (random.below(2) == 0) return share<std::uint32_t>(blocks);
    return share<std::uint64_t>(blocks);
  }
  template <class Id>
  [[nodiscard]] graph::dist_csr<Id> share(const pgas::partition& blocks) const {
    if (weighted_.kind != weights::none) return share_of<Id>(weighted_, w_.rank(), blocks);
    return share_of<Id>(weighted_.graph, w_.rank(), blocks);
  }
  // Returns false if the options are refused, or a flow in a graph of less than two vertices.
  bool bind() {
    try {
      bound_ = a_.bind(w_, graph_, given_, 1);
      run_ = bound_->prepare(request_);
      return true;
    } catch (const usage_error&) {
      return false;
    } catch (const input_error&) {
      if (a_.info().name != "maxflow" || weighted_.graph.n >= 2) throw;
      return false;
    }
  }

  world& w_;
  const algo::algorithm& a_;
  const weighted_graph weighted_;
  const graph::any_graph graph_;
  algo::option_values given_;
  algo::run_request request_;
  std::unique_ptr<algo::bound_graph> bound_;
  std::unique_ptr<algo::prepared_run> run_;
  algo::ref::output output_;
};

}  // namespace cairn::support
