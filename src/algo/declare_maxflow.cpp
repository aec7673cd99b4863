// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/declared.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/algo/ref/maxflow.hpp>
#include <cairn/base/random.hpp>

#include "algo/capacities.hpp"

namespace cairn::algo {
namespace {

struct maxflow_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "maxflow",
      .summary = "Maximum flow and minimum cut between two vertices",
      .check = "Check that flow and cut are valid and have equal values",
      .weights = weights_read::integer,
      .verify_options = words<"from", "to">,
      .several_cells = true,
      .filters = true,
      .to_owners = true};
  struct options {
    vertex_option from, to;

    static constexpr auto fields() {
      return std::tuple(field{"from", &options::from, "Source vertex"}.if_absent(
                            "that of a .max file, or random, per trial"),
                        field{"to", &options::to, "Sink vertex"}.if_absent(
                            "that of a .max file, or random, per trial"));
    }
  };
  template <class Id>
  using result = maxflow_result<Id>;

  static bool uses_seed(const options& o) { return o.from.id.empty() || o.to.id.empty(); }

  struct ends {
    std::uint64_t s, t;
    static constexpr auto fields() { return std::tuple(); }
  };
  // Randomly drawn vertices are distinct.
  static ends start(const auto& c) {
    const auto n = c.g.num_vertices();
    if (n < 2) {
      throw input_error("has " + std::to_string(n) + (n == 1 ? " vertex" : " vertices") +
                        ", expected at least 2 for a flow");
    }
    expect_integer_capacities(c.w, c.g);
    // By id, so that they do not depend on the order of vertices.
    const auto& names = c.g.labels();
    auto draw = random64(c.request.seed).stream(c.request.trial);
    const auto any = draw.below(n);
    const auto other = [&](std::uint64_t v) {
      return names.vertex_at((names.position_of(v) + 1 + draw.below(n - 1)) % n);
    };
    const std::uint64_t t = c.vertex("to", c.opt.to, names.vertex_at(any));
    const std::uint64_t s = c.vertex("from", c.opt.from, other(t));
    if (s != t) return {s, t};
    if (c.opt.to.id.empty()) return {s, other(s)};
    throw usage_error("--from and --to are the same vertex, " + c.opt.to.id);
  }

  struct problem {
    std::uint64_t from, to;
    bool weighted;
    static constexpr auto fields() {
      return std::tuple(field{"from", &problem::from, "source vertex", 0, value_kind::vertices},
                        field{"to", &problem::to, "sink vertex", 0, value_kind::vertices},
                        field{"weighted", &problem::weighted,
                              "whether edges have weights; otherwise each capacity is 1"});
    }
  };
  static problem extra_facts(const auto& c, const ends& e, const auto&) {
    return {e.s, e.t, c.g.weighted()};
  }

  template <class D, class Id>
  static auto run(const call<D, Id>& c, const ends& e) {
    return maxflow(c.w, c.g, {.s = static_cast<Id>(e.s), .t = static_cast<Id>(e.t)},
                   {.activity = c.request.activity});
  }
  template <class D, class Id>
  static auto verify(const call<D, Id>& c, const ends& e, const maxflow_result<Id>& r) {
    return verify_maxflow<Id>(c.w, c.g, {.s = static_cast<Id>(e.s), .t = static_cast<Id>(e.t)},
                              r.value, r.flow, r.source_side);
  }
  // A flow whose value equals the capacity of the cut in the file proves that the cut is minimal.
  template <class D, class Id>
  static std::optional<std::string> verify_column(const call<D, Id>& c, std::string_view,
                                                  const own_values& sides) {
    if (c.opt.from.id.empty() || c.opt.to.id.empty()) {
      throw usage_error("verifying a cut needs --from and --to");
    }
    const auto e = start(c);
    const auto r = run(c, e);
    return verify_maxflow<Id>(c.w, c.g, {.s = static_cast<Id>(e.s), .t = static_cast<Id>(e.t)},
                              r.value, r.flow, c.template map_of<std::uint32_t>(sides));
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    std::vector<ref::capacity_arc> arcs;
    for (const auto& e : g.edges) {
      const auto capacity = static_cast<std::int64_t>(e.weight);
      arcs.push_back({e.source, e.target, capacity});
      if (!g.directed) arcs.push_back({e.target, e.source, capacity});
    }
    const auto s = static_cast<std::uint64_t>(found.numbers.at("from"));
    const auto t = static_cast<std::uint64_t>(found.numbers.at("to"));
    const auto max_flow = ref::edmonds_karp(g.num_vertices, arcs, s, t);
    if (found.numbers.at("value") == static_cast<double>(max_flow)) return "";
    return "the flow is not " + std::to_string(max_flow);
  }
};

}  // namespace

const algorithm& maxflow_algorithm() {
  static const declared<maxflow_declaration> a;
  return a;
}

}  // namespace cairn::algo
