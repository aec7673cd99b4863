// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/own_loops.hpp"
#include "algo/random_source.hpp"

namespace cairn::algo {

template <>
inline constexpr std::span<const std::string_view> enum_names<traverse::direction> =
    words<"auto", "top-down", "bottom-up">;

namespace {

struct bfs_declaration : declaration {
  static constexpr algorithm_info info{.name = "bfs",
                                       .summary = "Breadth-first search: parents and depths",
                                       .check = "Check the result by Graph500's five rules",
                                       .in_edges = true,
                                       .verify_options = words<"source">,
                                       .filters = true,
                                       .in_order = true,
                                       .to_owners = true};
  struct options {
    vertex_option source;
    bfs_method algorithm = bfs_method::automatic;
    traverse::direction direction = traverse::direction::automatic;

    static constexpr auto fields() {
      return std::tuple(
          field{"source", &options::source, "Source vertex", 'r'}.if_absent("random, per trial"),
          field{"algorithm", &options::algorithm,
                "By levels, or without barriers in order of depth or of arrival (auto: levels)"},
          field{"direction", &options::direction, "Direction of each level"});
    }
  };
  template <class Id>
  using result = bfs_result<Id>;

  static bool uses_seed(const options& o) { return o.source.id.empty(); }
  static void check_options(const options& o) {
    if (by_levels(o.algorithm) || o.direction == traverse::direction::automatic) return;
    throw usage_error("--direction has no effect on --algorithm " +
                      std::string(enum_name(o.algorithm)) + ", which has no levels");
  }
  static std::string_view without_queues(const options& o) {
    return by_levels(o.algorithm) ? "by levels works in supersteps" : std::string_view();
  }
  static std::string_view without_lead(const options& o) {
    if (by_levels(o.algorithm)) return without_queues(o);
    if (o.algorithm == bfs_method::chaotic) return "by --algorithm chaotic has no order";
    return {};
  }
  static std::string_view without_operators(const options& o, const world&) {
    return o.direction == traverse::direction::pull ? "bottom-up levels run no operators"
                                                    : std::string_view();
  }

  template <class Id>
  struct built {
    own_loops<Id> loops;
  };
  template <class D, class Id>
  static built<Id> build(const call<D, Id>& c, std::uint64_t) {
    return {{c.w, c.g}};
  }

  static auto start(const auto& c) { return source_of_run(c); }
  template <class D, class Id>
  static auto run(const call<D, Id>& c, Id root) {
    const bool depths = c.request.verify || c.request.output == "depth";
    return bfs(c.w, c.g, root,
               {.activity = c.request.activity,
                .algorithm = c.opt.algorithm,
                .direction = c.opt.direction,
                .depths = depths});
  }

  // Edges of the input, as counted for TEPS.
  struct reach {
    std::uint64_t source = 0, reached = 0, edges = 0, wasted = 0;
    static constexpr auto fields() {
      return std::tuple(field{"source", &reach::source, "source vertex", 0, value_kind::vertices},
                        field{"reached", &reach::reached, "number of reached vertices"},
                        field{"edges", &reach::edges, "input edges between reached vertices"},
                        field{"wasted_relaxations", &reach::wasted,
                              "relaxations with depths that were lowered later; by levels none"});
    }
  };
  template <class D, class Id>
  static reach extra_facts(const call<D, Id>& c, Id root, const bfs_result<Id>& r) {
    reach mine;
    task::per_worker<reach> found(c.w.workers());
    traverse::for_each_own(c.w, c.g.out(), [&](worker_t k, Id v) {
      if (r.parent.load(v) == no_vertex<Id>) return;
      ++found[k].reached;
      found[k].edges += c.g.out().degree(v);
    });
    for (const auto& k : found) {
      mine.reached += k.value.reached;
      mine.edges += k.value.edges;
    }
    const auto is_reached = [&](Id v) { return r.parent.load(v) != no_vertex<Id>; };
    const auto arcs = c.w.sum(mine.edges), loops = c.w.sum(c.built->loops.count(is_reached));
    return {root, c.w.sum(mine.reached), c.g.directed() ? arcs : (arcs + loops) / 2,
            r.relaxations - std::min(arcs, r.relaxations)};
  }
  static constexpr bool counts_teps = true;
  static std::uint64_t edges(const auto&, const reach& found, const auto&) { return found.edges; }

  template <class D, class Id>
  static auto verify(const call<D, Id>& c, Id root, const bfs_result<Id>& r) {
    return verify_bfs<Id>(c.w, c.g, root, r.parent, r.depth ? &*r.depth : nullptr);
  }
  template <class D, class Id>
  static std::optional<std::string> verify_column(const call<D, Id>& c, std::string_view name,
                                                  const own_values& values) {
    const auto map = c.template map_of<Id>(values);
    const bool parents = name == "parent";
    const auto root = parents ? root_of_parents(c.w, c.g, map) : root_of_depths(c.w, c.g, map);
    if (!root.problem.empty()) return root.problem;
    if (const auto named = c.vertex("source", c.opt.source, root.vertex); named != root.vertex) {
      return "the result starts at " + c.g.labels().text_of(root.vertex) + ", not at source " +
             c.opt.source.id;
    }
    return parents ? verify_bfs<Id>(c.w, c.g, root.vertex, map)
                   : verify_bfs_depths<Id>(c.w, c.g, root.vertex, map);
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto root = static_cast<std::uint64_t>(found.numbers.at("source"));
    const auto depth = found.integers.find("depth");
    if (depth != found.integers.end() &&
        depth->second != ref::bfs_depths(g.num_vertices, g.arcs, root)) {
      return "a depth is wrong";
    }
    return ref::bfs_violation(g.num_vertices, g.arcs, root, found.integers.at("parent"));
  }
};

}  // namespace

const algorithm& bfs_algorithm() {
  static const declared<bfs_declaration> a;
  return a;
}

}  // namespace cairn::algo
