// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/bfs.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/st_connectivity.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/base/random.hpp>

namespace cairn::algo {
namespace {

struct st_connectivity_declaration : declaration {
  static constexpr algorithm_info info{.name = "st-connectivity",
                                       .summary = "Whether a path leads from one vertex to another",
                                       .check = "Check by a breadth-first search",
                                       .in_edges = true,
                                       .direct = true};
  struct options {
    vertex_option from, to;

    static constexpr auto fields() {
      return std::tuple(field{"from", &options::from, "Start of the path"}.if_absent(
                            "that of a .max file, or random, per trial"),
                        field{"to", &options::to, "End of the path"}.if_absent(
                            "that of a .max file, or random, per trial"));
    }
  };
  template <class Id>
  using result = st_connectivity_result;

  static bool uses_seed(const options& o) { return o.from.id.empty() || o.to.id.empty(); }

  struct ends {
    std::uint64_t s, t;
    static constexpr auto fields() {
      return std::tuple(field{"from", &ends::s, "start of the path", 0, value_kind::vertices},
                        field{"to", &ends::t, "end of the path", 0, value_kind::vertices});
    }
  };
  static ends start(const auto& c) {
    auto draw = random64(c.request.seed).stream(c.request.trial);
    const auto n = c.g.num_vertices();
    if (n == 0) throw usage_error("the graph has no vertices");
    const auto& names = c.g.labels();
    const auto s = names.vertex_at(draw.below(n)), t = names.vertex_at(draw.below(n));
    return {c.vertex("from", c.opt.from, s), c.vertex("to", c.opt.to, t)};
  }
  static ends extra_facts(const auto&, const ends& e, const auto&) { return e; }

  template <class D, class Id>
  static auto run(const call<D, Id>& c, const ends& e) {
    return st_connectivity(c.w, c.g, {.s = static_cast<Id>(e.s), .t = static_cast<Id>(e.t)},
                           {.activity = c.request.activity});
  }
  // By a complete search from s, which shares only the graph with the two searches.
  template <class D, class Id>
  static std::optional<std::string> verify(const call<D, Id>& c, const ends& e,
                                           const st_connectivity_result& r) {
    const auto parent = bfs(c.w, c.g, static_cast<Id>(e.s)).parent;
    const bool reached = c.w.any(parent.owns(e.t) && parent.load(e.t) != no_vertex<Id>);
    if (reached == r.connected) return std::nullopt;
    const auto id = [&](std::uint64_t v) { return c.g.labels().text_of(v); };
    return "a breadth-first search from " + id(e.s) + (reached ? " reaches " : " does not reach ") +
           id(e.t);
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto s = static_cast<std::uint64_t>(found.numbers.at("from"));
    const auto t = static_cast<std::uint64_t>(found.numbers.at("to"));
    const bool connected = ref::reaches(g.num_vertices, g.arcs, s, t);
    if (connected == (found.numbers.at("connected") != 0)) return "";
    return connected ? "there is a path" : "there is no path";
  }
};

}  // namespace

const algorithm& st_connectivity_algorithm() {
  static const declared<st_connectivity_declaration> a;
  return a;
}

}  // namespace cairn::algo
