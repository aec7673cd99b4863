// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <cairn/algo/declared.hpp>
#include <cairn/algo/lcc.hpp>
#include <cairn/algo/ref/lcc.hpp>

#include "algo/wrong_fact.hpp"

namespace cairn::algo {
namespace {

struct lcc_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "lcc",
      .summary = "Local clustering coefficients, as LDBC Graphalytics defines them",
      .check = "Check the coefficients by merging sorted rows",
      .in_edges = true,
      .no_operators = "each count has one writer",
      .also = "clustering"};
  template <class Id>
  using result = lcc_result;

  static auto run(const auto& c, nothing) {
    return lcc(c.w, c.g, {.activity = c.request.activity});
  }
  static std::optional<std::string> verify(const auto& c, nothing, const lcc_result& r) {
    if (auto wrong = verify_lcc(c.w, c.g, r.coefficient)) return wrong;
    return wrong_fact(c.w, c.g, r);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& values) {
    return verify_lcc(c.w, c.g, c.template map_of<double>(values));
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto expected = ref::clustering_coefficients(g.num_vertices, g.arcs);
    const auto& claimed = found.real.at("lcc");
    if (expected != claimed) return "a coefficient is wrong";
    double sum = 0;
    for (const auto x : expected) sum += x;
    const auto n = static_cast<double>(std::max<std::uint64_t>(1, g.num_vertices));
    return std::abs(found.numbers.at("mean") - sum / n) < 1e-12 ? "" : "the mean is wrong";
  }
};

}  // namespace

const algorithm& lcc_algorithm() {
  static const declared<lcc_declaration> a;
  return a;
}

}  // namespace cairn::algo
