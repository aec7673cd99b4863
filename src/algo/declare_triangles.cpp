// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/triangles.hpp>
#include <cairn/algo/triangles.hpp>

namespace cairn::algo {
namespace {

struct triangles_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "triangles",
      .summary = "The number of triangles, ignoring edge directions",
      .check = "Check the counts by merging sorted rows",
      .in_edges = true,
      .no_operators = "each count has one writer"};
  struct options {
    triangles_mode mode = triangles_mode::automatic;

    static constexpr auto fields() {
      return std::tuple(
          field{"mode", &options::mode, "How rows are intersected; auto: chosen by a sample"});
    }
  };
  template <class Id>
  using result = triangles_result;

  static nothing start(const auto& c) {
    if (c.opt.mode == triangles_mode::natural && c.w.size() > 1) {
      throw usage_error("--mode natural is for one rank");
    }
    if (c.opt.mode == triangles_mode::natural && c.g.directed()) {
      throw usage_error("--mode natural is for undirected graphs (--symmetrize)");
    }
    return {};
  }
  static auto run(const auto& c, nothing) {
    return triangles(c.w, c.g,
                     {.activity = c.request.activity,
                      .per_vertex = !c.request.output.empty(),
                      .mode = c.opt.mode});
  }
  static auto verify(const auto& c, nothing, const triangles_result& r) {
    return verify_triangles(c.w, c.g, r.total, r.of_vertex ? &*r.of_vertex : nullptr);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& values) {
    const auto counts = c.template map_of<std::uint64_t>(values);
    std::uint64_t ends = 0;
    for (const auto x : counts.local()) ends += x;
    return verify_triangles(c.w, c.g, c.w.sum(ends) / 3, &counts);
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto counts = ref::count_triangles(g.num_vertices, g.arcs);
    if (found.numbers.at("total") != static_cast<double>(counts.total)) {
      return "there are " + std::to_string(counts.total) + " triangles";
    }
    const auto per_vertex = found.integers.find("triangles");
    const bool right = per_vertex == found.integers.end() || per_vertex->second == counts.of_vertex;
    return right ? "" : "the count of a vertex is wrong";
  }
};

}  // namespace

const algorithm& triangles_algorithm() {
  static const declared<triangles_declaration> a;
  return a;
}

}  // namespace cairn::algo
