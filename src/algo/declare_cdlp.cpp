// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/cdlp.hpp>
#include <cairn/algo/declared.hpp>
#include <cairn/algo/ref/cdlp.hpp>

namespace cairn::algo {
namespace {

struct cdlp_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "cdlp",
      .summary = "Communities by label propagation, as LDBC Graphalytics defines it",
      .check = "Check the labels by sending them along edges and sorting them",
      .in_edges = true,
      .verify_options = words<"iterations">,
      .direct = true,
      .no_operators = "each label has one writer",
      .also = "label-propagation"};
  struct options {
    std::uint64_t iterations = cdlp_options().iterations;

    static constexpr auto fields() {
      return std::tuple(
          field{"iterations", &options::iterations, "Maximum number of iterations", 'i'});
    }
  };
  template <class Id>
  using result = cdlp_result<Id>;

  static auto run(const auto& c, nothing) {
    return cdlp(c.w, c.g, {.activity = c.request.activity, .iterations = c.opt.iterations});
  }
  static auto verify(const auto& c, nothing, const auto& r) {
    return verify_cdlp(c.w, c.g, r.label, c.opt.iterations);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& labels) {
    using id = typename std::remove_cvref_t<decltype(c)>::id_type;
    return verify_cdlp(c.w, c.g, c.template map_of<id>(labels), c.opt.iterations);
  }
  static std::string check_against_reference(const ref::input& g, const options& o,
                                             const ref::output& found) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
    for (const auto& e : g.edges) edges.emplace_back(e.source, e.target);
    const auto labels = ref::propagated_labels(g.num_vertices, g.directed, edges, o.iterations);
    return found.integers.at("label") == labels ? "" : "a label is wrong";
  }
};

}  // namespace

const algorithm& cdlp_algorithm() {
  static const declared<cdlp_declaration> a;
  return a;
}

}  // namespace cairn::algo
