// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <cairn/algo/declared.hpp>
#include <cairn/algo/length_layout.hpp>
#include <cairn/algo/ref/sssp.hpp>
#include <cairn/algo/sssp.hpp>

#include "algo/check_delta.hpp"
#include "algo/layout_wanted.hpp"
#include "algo/own_loops.hpp"
#include "algo/random_source.hpp"
#include "algo/reach.hpp"

namespace cairn::algo {

enum class receive_order { arrival, distance };
template <>
inline constexpr std::span<const std::string_view> enum_names<receive_order> =
    words<"arrival", "distance">;

namespace {

constexpr auto max_exact = 0x1p53;  // a double holds every integer up to it

struct sssp_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "sssp",
      .summary = "Shortest paths from one vertex",
      .check = "Check that no distance is too large and that a path has each distance",
      .weights = weights_read::lengths,
      .verify_options = words<"source">,
      .filters = true,
      .in_order = true,
      .to_owners = true};
  struct options {
    vertex_option source;
    sssp_method algorithm = sssp_method::automatic;
    std::optional<double> delta;
    layout_wanted layout = layout_wanted::automatic;
    receive_order received = receive_order::arrival;

    static constexpr auto fields() {
      return std::tuple(
          field{"source", &options::source, "Source vertex", 'r'}.if_absent("random, per trial"),
          field{"algorithm", &options::algorithm,
                "The order in which edges are relaxed; auto: distributed-control"},
          field{"delta", &options::delta, "Width of a bucket", 'd'}.if_absent(
              "chosen by weights, degrees and earlier trials"),
          field{"layout", &options::layout,
                "Whether to reorder the edges where that suits the graph; auto: if it pays off in "
                "the trials"},
          field{"received", &options::received,
                "The order in which the relaxations of a received buffer run"});
    }
  };
  // Columns are read as doubles, which hold integer distances too.
  template <class Id>
  using result = sssp_result<double>;

  static bool uses_seed(const options& o) { return o.source.id.empty(); }
  static void check_options(const options& o) {
    if (!o.delta) return;
    if (o.algorithm == sssp_method::chaotic) {
      throw usage_error("--delta has no effect on --algorithm chaotic, which has no buckets");
    }
    check_delta(*o.delta, "--delta");
  }

  static std::string_view without_queues(const options&) { return {}; }
  static std::string_view without_lead(const options& o) {
    if (o.algorithm == sssp_method::chaotic) return "by --algorithm chaotic has no buckets";
    if (o.algorithm == sssp_method::delta) return "by --algorithm delta has a barrier per bucket";
    return {};
  }

  template <class Id>
  struct built {
    edge_lengths lengths;
    own_loops<Id> loops;
    std::optional<length_layout<Id>> layout = {};
  };
  template <class D, class Id>
  static built<Id> build(const call<D, Id>& c, std::uint64_t runs) {
    using layout = length_layout<Id>;
    const bool sends_to_workers = c.w.options().deliver == delivery::owner && c.w.workers() > 1;
    if (c.opt.received != receive_order::arrival && c.w.size() == 1 && !sends_to_workers) {
      throw usage_error("--received has no effect here: one rank receives no buffers");
    }
    built<Id> all{measure_lengths(c.w, c.g), {c.w, c.g}};
    if (c.opt.layout == layout_wanted::none) return all;
    const bool wanted = c.opt.layout == layout_wanted::always;
    const bool possible = c.g.weighted() && c.w.size() == 1;
    if (wanted && !possible) {
      throw usage_error(
          "--layout always is for a graph with weights on one rank: a layout orders each row by "
          "weight");
    }
    if (!possible) return all;
    const bool suits = layout::suits(c.g), repaid = suits && layout::break_even_runs <= runs;
    if (!wanted) {
      c.w.trace().note(main_worker, obs::trace_kind::choice,
                       repaid ? "a layout repays" : "no layout repays",
                       {.amount = suits ? layout::break_even_runs : 0});
    }
    if (repaid || (wanted && suits)) all.layout.emplace(c.w, c.g);
    return all;
  }

  static auto start(const auto& c) { return source_of_run(c); }
  template <class D, class Id>
  static sssp_found run(const call<D, Id>& c, Id source) {
    auto activity = c.request.activity;
    activity.sort_received = c.opt.received == receive_order::distance;
    return sssp(c.w, c.g, source,
                {.activity = activity,
                 .algorithm = c.opt.algorithm,
                 .delta = c.opt.delta,
                 .predecessors = c.request.output == "predecessor"},
                c.built->lengths, c.built->layout ? &*c.built->layout : nullptr);
  }

  // useful: every algorithm relaxes each edge of a vertex once with its final distance, except
  // edges of dead ends. A search with radii skips edges, and does not know which of its relaxations
  // had final distances.
  struct reach {
    std::uint64_t source, reached, edges;
    std::optional<std::uint64_t> useful = {}, wasted = {};
    std::string_view layout;
    static constexpr auto fields() {
      return std::tuple(
          field{"source", &reach::source, "source vertex", 0, value_kind::vertices},
          field{"reached", &reach::reached, "number of reached vertices"},
          field{"edges", &reach::edges, "input edges between reached vertices"},
          field{"useful_relaxations", &reach::useful,
                "relaxations with final distances; absent after a search with radii"},
          field{"wasted_relaxations", &reach::wasted,
                "relaxations with distances that were lowered later; absent likewise"},
          field{"layout", &reach::layout, "order of the edges: none or bins"});
    }
  };
  template <class D, class Id, class Distance>
  static reach extra_facts(const call<D, Id>& c, Id source, const sssp_result<Distance>& r) {
    const auto mine = count_reach(c.w, c.g.out(), source, c.built->lengths.ends.get(), r.distance);
    const auto is_reached = [&](Id v) { return r.distance.load(v) != unreached<Distance>; };
    const auto arcs = c.w.sum(mine.edges), loops = c.w.sum(c.built->loops.count(is_reached));
    reach all{.source = source,
              .reached = c.w.sum(mine.vertices),
              .edges = c.g.directed() ? arcs : (arcs + loops) / 2,
              .layout = c.built->layout ? "bins" : "none"};
    const auto useful = std::min(c.w.sum(mine.relaxed_edges), r.relaxations);
    if (r.radii == 0) all.useful = useful, all.wasted = r.relaxations - useful;
    return all;
  }
  static constexpr bool counts_teps = true;
  static std::uint64_t edges(const auto&, const reach& found, const auto&) { return found.edges; }

  static auto verify(const auto& c, auto source, const auto& r) {
    return verify_sssp(c.w, c.g, source, r.distance, r.predecessor ? &*r.predecessor : nullptr);
  }

  template <class D, class Id>
  static std::optional<std::string> verify_column(const call<D, Id>& c, std::string_view name,
                                                  const own_values& values) {
    const auto all = measure_lengths(c.w, c.g);
    if (name == "predecessor") return verify_tree(c, c.template map_of<std::uint64_t>(values), all);
    auto lengths = std::get<std::vector<double>>(values);
    for (auto& x : lengths) x = std::isnan(x) ? unreached<double> : x;
    const auto [source, problem] = source_of(c, lengths);
    if (!problem.empty()) return problem;
    if (c.g.out().template weighted_by<double>()) {
      pgas::vertex_map<double> map(c.w, c.g.partition(), 0);
      std::ranges::copy(lengths, map.local().begin());
      return verify_sssp(c.w, c.g, source, map);
    }
    if (c.w.any(std::ranges::any_of(lengths, beyond_exact))) {
      throw usage_error("distances of 2^53 or more cannot be verified: they are read as doubles");
    }
    if (auto wrong = not_whole(c, lengths)) return wrong;
    pgas::vertex_map<std::uint64_t> map(c.w, c.g.partition(), 0);
    std::ranges::transform(lengths, map.local().begin(), [](double x) {
      return x == unreached<double> ? unreached<std::uint64_t> : static_cast<std::uint64_t>(x);
    });
    return verify_sssp(c.w, c.g, source, map);
  }

  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto source = static_cast<std::uint64_t>(found.numbers.at("source"));
    const auto expected = ref::dijkstra(g.num_vertices, g.directed, g.edges, source);
    const auto same = [](std::uint64_t x, double d) {
      return std::isinf(d) ? x == no_vertex<std::uint64_t> : static_cast<double>(x) == d;
    };
    const auto tree = found.integers.find("predecessor");
    if (tree != found.integers.end()) {
      const auto wrong = ref::tree_violation(g.directed, g.edges, source, expected, tree->second);
      if (!wrong.empty()) return wrong;
    }
    if (found.real.contains("distance")) {
      return found.real.at("distance") == expected ? "" : "a distance is wrong";
    }
    const auto& claimed = found.integers.at("distance");
    return std::ranges::equal(claimed, expected, same) ? "" : "a distance is wrong";
  }

 private:
  template <class Id>
  static bool has_zero_length(world& w, const graph::dist_csr<Id>& g) {
    const auto mine = [&]<class Weight>(Weight) {
      if (!g.out().template weighted_by<Weight>()) return false;
      const auto edges = g.out().template edges<Weight>();
      return std::ranges::any_of(edges, [](const auto& e) { return e.weight == 0; });
    };
    return w.sum(std::uint64_t{mine(std::int32_t{}) || mine(double{})}) != 0;
  }
  // The vertex of distance 0, unless it was named, or why there is none.
  struct found_source {
    std::uint64_t vertex = 0;
    std::string problem = {};
  };
  template <class D, class Id>
  static found_source source_of(const call<D, Id>& c, const std::vector<double>& own) {
    constexpr auto none = no_vertex<std::uint64_t>;
    if (!c.opt.source.id.empty()) return {c.vertex("source", c.opt.source, 0)};
    const auto at = std::ranges::find(own, 0.0);
    const auto mine =
        at == own.end() ? none : c.g.out().first() + static_cast<std::uint64_t>(at - own.begin());
    const auto count = c.w.sum(static_cast<std::uint64_t>(std::ranges::count(own, 0.0)));
    if (count == 0) return {.problem = "no vertex has distance 0"};
    if (count != 1 && !has_zero_length(c.w, c.g)) {
      return {.problem = std::to_string(count) + " vertices have distance 0, expected the source"};
    }
    if (count != 1) {
      throw usage_error(std::to_string(count) +
                        " vertices have distance 0, expected one: name the source with --source");
    }
    return {none - c.w.max(none - mine)};
  }
  // By distances of our own.
  template <class D, class Id>
  static std::optional<std::string> verify_tree(const call<D, Id>& c,
                                                const pgas::vertex_map<std::uint64_t>& tree,
                                                const edge_lengths& lengths) {
    constexpr auto none = no_vertex<std::uint64_t>;
    std::uint64_t roots = 0, root = none;
    for (auto v = c.g.out().first(); v < c.g.out().last(); ++v) {
      if (tree.load(v) != v) continue;
      ++roots;
      root = v;
    }
    roots = c.w.sum(roots);
    if (roots != 1)
      return std::to_string(roots) +
             " vertices are their own predecessors, expected the source alone";
    root = none - c.w.max(none - root);
    if (c.vertex("source", c.opt.source, root) != root) {
      return "the result starts at " + c.g.labels().text_of(root) + ", not at source " +
             c.opt.source.id;
    }
    const auto found = sssp(c.w, c.g, static_cast<Id>(root), {}, lengths);
    return std::visit([&](const auto& r) { return verify_sssp(c.w, c.g, root, r.distance, &tree); },
                      found);
  }
  static bool beyond_exact(double x) { return x >= max_exact && x != unreached<double>; }
  template <class D, class Id>
  static std::optional<std::string> not_whole(const call<D, Id>& c,
                                              const std::vector<double>& own) {
    const auto at = std::ranges::find_if_not(
        own, [](double x) { return x == unreached<double> || (x >= 0 && x == std::floor(x)); });
    std::string mine;
    if (at != own.end()) {
      const auto v = c.g.out().first() + static_cast<std::uint64_t>(at - own.begin());
      mine = "vertex " + c.g.labels().text_of(v) + " has the distance " + std::to_string(*at) +
             ", expected an integer of at least 0";
    }
    for (const auto& text : c.w.all_gather(mine)) {
      if (!text.empty()) return text;
    }
    return std::nullopt;
  }
};

}  // namespace

const algorithm& sssp_algorithm() {
  static const declared<sssp_declaration> a;
  return a;
}

}  // namespace cairn::algo
