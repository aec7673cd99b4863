// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include <cairn/algo/components.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/components.hpp>
#include <cairn/algo/verify_components.hpp>

namespace cairn::algo {
namespace {

// A file names a component by its smallest id, the algorithm by its smallest vertex: they differ
// where vertices have another order than ids. Rewrites own labels; returns what is wrong.
template <class Id>
std::optional<std::string> from_smallest_ids(world& w, const graph::labels& names,
                                             pgas::vertex_map<Id>& label) {
  const auto all = w.all_gather_values<Id>(std::as_const(label).local());
  std::vector<Id> smallest(all.size(), no_vertex<Id>);
  for (std::uint64_t v = 0; v < all.size(); ++v) {
    const auto named = all[v];
    const auto said = [&] {
      return "vertex " + names.text_of(v) + " is labelled vertex " + names.text_of(named);
    };
    if (named >= all.size()) continue;
    if (all[named] != named) return said() + ", which is labelled otherwise";
    if (names.position_of(v) < names.position_of(named)) return said() + ", whose id is larger";
    smallest[named] = std::min(smallest[named], static_cast<Id>(v));
  }
  for (auto& x : label.local()) {
    if (x < all.size()) x = smallest[x];
  }
  return std::nullopt;
}

struct cc_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "cc",
      .summary = "Connected components, edges taken both ways",
      .check = "Check the result by a search from every label",
      // With them afforest skips the largest component's edges, which are most.
      .in_edges = true};
  struct options {
    components_method method = components_method::automatic;

    static constexpr auto fields() {
      return std::tuple(field{"method", &options::method, "How components are found"});
    }
  };
  template <class Id>
  using result = components_result<Id>;

  static std::string_view without_operators(const options& o, const world& w) {
    const bool afforest = o.method != components_method::propagation;
    return afforest && w.size() == 1 ? "the trees of one rank are joined without operators"
                                     : std::string_view();
  }
  static auto run(const auto& c, nothing) {
    return components(c.w, c.g, {.activity = c.request.activity, .method = c.opt.method});
  }
  static auto verify(const auto& c, nothing, const auto& r) {
    return verify_components(c.w, c.g, r.label);
  }
  static std::optional<std::string> verify_column(const auto& c, std::string_view,
                                                  const own_values& labels) {
    using id = typename std::remove_cvref_t<decltype(c)>::id_type;
    auto label = c.template map_of<id>(labels);
    if (!c.g.labels().ascend()) {
      if (auto wrong = from_smallest_ids(c.w, c.g.labels(), label)) return wrong;
    }
    return verify_components(c.w, c.g, label);
  }
  static std::string judge(const ref::input& g, const options&, const ref::output& found) {
    const bool right = found.whole.at("component") == ref::component_labels(g.num_vertices, g.arcs);
    return right ? "" : "a label is wrong";
  }
};

}  // namespace

const algorithm& cc_algorithm() {
  static const declared<cc_declaration> a;
  return a;
}

}  // namespace cairn::algo
