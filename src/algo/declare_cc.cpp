// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/components.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/components.hpp>
#include <cairn/algo/verify_components.hpp>

#include "algo/wrong_fact.hpp"

namespace cairn::algo {
namespace {

struct cc_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "cc",
      .summary = "Connected components, ignoring edge directions",
      .check = "Check the result by a search from every label",
      // With in-edges afforest can skip the edges of the largest component.
      .in_edges = true,
      .filters = true,
      .to_owners = true};
  struct options {
    components_method method = components_method::automatic;

    static constexpr auto fields() {
      return std::tuple(
          field{"method", &options::method, "How components are found; auto: afforest"});
    }
  };
  template <class Id>
  using result = components_result<Id>;

  static std::string_view without_operators(const options& o, const world&) {
    return o.method != components_method::propagation ? "afforest joins trees without operators"
                                                      : "";
  }
  static auto run(const auto& c, nothing) {
    return components(c.w, c.g, {.activity = c.request.activity, .method = c.opt.method});
  }
  static std::optional<std::string> verify(const auto& c, nothing, const auto& r) {
    if (auto wrong = verify_components(c.w, c.g, r.label)) return wrong;
    return wrong_fact(c.w, c.g, r);
  }
  static std::optional<std::string> verify_column(const auto& c, std::string_view,
                                                  const own_values& labels) {
    using id = typename std::remove_cvref_t<decltype(c)>::id_type;
    return verify_components(c.w, c.g, c.template map_of<id>(labels));
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const bool right =
        found.integers.at("component") == ref::component_labels(g.num_vertices, g.arcs);
    return right ? "" : "a label is wrong";
  }
};

}  // namespace

const algorithm& cc_algorithm() {
  static const declared<cc_declaration> a;
  return a;
}

}  // namespace cairn::algo
