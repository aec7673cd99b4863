// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/coloring.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/coloring.hpp>

namespace cairn::algo {
namespace {

struct coloring_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "coloring",
      .summary = "Proper colouring: adjacent vertices differ in colour",
      .check = "Check every edge and the number of colours",
      .in_edges = true};
  template <class Id>
  using result = coloring_result;

  static constexpr bool draws(const options&) { return true; }  // conflicts

  static auto run(const auto& c, nothing) {
    return coloring(c.w, c.g, {.activity = c.request.activity, .seed = c.request.seed});
  }
  static auto verify(const auto& c, nothing, const coloring_result& r) {
    return verify_coloring(c.w, c.g, r.colour);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& colours) {
    return verify_coloring(c.w, c.g, c.template map_of<std::uint32_t>(colours));
  }
  static std::string judge(const ref::input& g, const options&, const ref::output& found) {
    const auto& colours = found.whole.at("colour");
    return ref::coloring_violation(g.num_vertices, g.arcs, {colours.begin(), colours.end()});
  }
};

}  // namespace

const algorithm& coloring_algorithm() {
  static const declared<coloring_declaration> a;
  return a;
}

}  // namespace cairn::algo
