// SPDX-License-Identifier: Apache-2.0
#include <cairn/algo/declared.hpp>
#include <cairn/algo/kcore.hpp>
#include <cairn/algo/ref/kcore.hpp>

namespace cairn::algo {
namespace {

struct kcore_declaration : declaration {
  static constexpr algorithm_info info{
      .name = "kcore",
      .summary = "Core numbers, ignoring edge directions",
      .check = "Check that no core number is too large or too small",
      .in_edges = true,
      .to_owners = true};
  template <class Id>
  using result = kcore_result;

  static auto run(const auto& c, nothing) {
    return kcore(c.w, c.g, {.activity = c.request.activity});
  }
  static auto verify(const auto& c, nothing, const kcore_result& r) {
    return verify_kcore(c.w, c.g, r.core);
  }
  static auto verify_column(const auto& c, std::string_view, const own_values& cores) {
    return verify_kcore(c.w, c.g, c.template map_of<std::uint32_t>(cores));
  }
  static std::string check_against_reference(const ref::input& g, const options&,
                                             const ref::output& found) {
    const auto cores = ref::core_numbers(g.num_vertices, g.directed, g.arcs);
    const auto& claimed = found.integers.at("core");
    return std::equal(cores.begin(), cores.end(), claimed.begin(), claimed.end())
               ? ""
               : "a core number is wrong";
  }
};

}  // namespace

const algorithm& kcore_algorithm() {
  static const declared<kcore_declaration> a;
  return a;
}

}  // namespace cairn::algo
