// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/coloring.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/coloring.hpp>

#include "algo/wrong_fact.hpp"

namespace cairn::algo {
namespace {

struct coloring_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "coloring",
      .summary = "Proper coloring: adjacent vertices differ in color",
      .check = "Check every edge and the number of colors",
      .in_edges = true,
      .direct = true};
  template <class Id>
  using result = coloring_result;

  static constexpr bool uses_seed(const options&) { return true; }  // conflicts

  static auto run(const auto& c, nothing) {
    return coloring(c.w, c.g, {.activity = c.request.activity, .seed = c.request.seed});
  }
  static std::optional<std::string> verify(const auto& c, nothing, const coloring_result& r) {
    if (auto wrong = verify_coloring(c.w, c.g, r.color)) return wrong;
    return wrong_fact(c.w, c.g, r);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& colors) {
    return verify_coloring(c.w, c.g, c.template map_of<std::uint32_t>(colors));
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto& colors = found.integers.at("color");
    return ref::coloring_violation(g.num_vertices, g.arcs, {colors.begin(), colors.end()});
  }
};

}  // namespace

const algorithm& coloring_algorithm() {
  static const declared<coloring_declaration> a;
  return a;
}

}  // namespace cairn::algo
