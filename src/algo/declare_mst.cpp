// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <span>

#include <cairn/algo/declared.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/algo/ref/mst.hpp>
#include <cairn/algo/verify_forest.hpp>
#include <cairn/algo/verify_mst.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/spanning_forest.hpp"
#include "algo/wrong_fact.hpp"

namespace cairn::algo {
namespace {

struct mst_declaration : declaration {
  static constexpr algorithm_info info{.name = "mst",
                                       .summary = "Minimum spanning forest of an undirected graph",
                                       .check = "Check that the forest spans and is minimal",
                                       .undirected = "a spanning forest needs an undirected graph",
                                       .weights = weights_read::any,
                                       .several_cells = true,
                                       .forest = true};
  struct options {
    mst_merge merge = mst_merge::automatic;

    static constexpr auto fields() {
      return std::tuple(
          field{"merge", &options::merge, "How trees of several ranks merge; auto: hooking"});
    }
  };
  template <class Id>
  using result = mst_result<Id>;

  struct weights {
    bool weighted;
    static constexpr auto fields() {
      return std::tuple(field{"weighted", &weights::weighted,
                              "whether edges have weights; otherwise each weight is 1"});
    }
  };
  static weights extra_facts(const auto& c, nothing, const auto&) { return {c.g.weighted()}; }

  static nothing start(const auto& c) {
    if (c.w.size() > 1 || c.opt.merge == mst_merge::automatic) return {};
    throw usage_error("--merge " + std::string(enum_name(c.opt.merge)) +
                      " is for several ranks, and there is one (--ranks)");
  }
  static auto run(const auto& c, nothing) {
    return mst(c.w, c.g, {.activity = c.request.activity, .merge = c.opt.merge});
  }
  template <class Id>
  static std::optional<std::string> verify(const auto& c, nothing, const mst_result<Id>& r) {
    if (auto wrong = verify_mst<Id>(c.w, c.g, r.edges)) return wrong;
    return wrong_fact(c.w, c.g, r);
  }
  template <class Id>
  static forest_rows forest(const auto& c, const mst_result<Id>& r) {
    constexpr double ns_of_edge = 20;
    const auto& names = c.g.labels();
    return sorted_at_owners<Id>(c.w, c.g.partition(), [&](const auto& take) {
      traverse::for_each_of(
          c.w, std::span(r.edges),
          [&](worker_t k, const mst_edge<Id>& e) {
            take(k, names.position_of(e.source), names.position_of(e.target), e.weight);
          },
          ns_of_edge);
    });
  }
  static auto verify_forest(const auto& c, const graph::io::raw_edges& rows) {
    return algo::verify_forest(c.w, c.g, rows);
  }

  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto forest = ref::kruskal(g.num_vertices, g.edges);
    double weight = 0, absolute = 0;
    bool whole = true;
    for (const auto& e : forest) {
      weight += e.weight;
      absolute += std::abs(e.weight);
      whole = whole && e.weight == std::floor(e.weight);
    }
    if (found.numbers.at("edges") != static_cast<double>(forest.size())) {
      return "the forest has another number of edges";
    }
    const auto off = std::abs(found.numbers.at("weight") - weight);
    return off <= rounding_of_sum(forest.size(), absolute, whole)
               ? ""
               : "the forest is not the lightest";
  }
};

}  // namespace

const algorithm& mst_algorithm() {
  static const declared<mst_declaration> a;
  return a;
}

}  // namespace cairn::algo
