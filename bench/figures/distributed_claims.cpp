// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using namespace claim_parts;

std::uint64_t number(const json& point, const char* member) {
  return point.at(member).get<std::uint64_t>();
}

/// The sentence about what was not committed; empty: all was.
std::string not_committed(points all) {
  for (const auto& p : all) {
    if (!p.contains("commits") || p.at("commits") == p.at("expected")) continue;
    return fmt::format("{} of {} committed", number(p, "commits"), number(p, "expected"));
  }
  return "";
}

verdict::part scenarios_of(points all) {
  verdict::part sum{"all commit, and more remote elements cost more", kind::undecided, ""};
  std::map<std::pair<std::uint64_t, std::uint64_t>, json> at;  // by transactions and remote ones
  for (const auto& p : all) {
    if (p.contains("remote")) at[{number(p, "transactions"), number(p, "remote")}] = p;
  }
  sum.why = not_committed(all);
  if (!sum.why.empty()) return sum.is = kind::fails, sum;
  sum.why = "there are not four scenarios";
  if (at.size() != 4) return sum;
  std::vector<json> four;
  for (const auto& [key, p] : at) four.push_back(p);
  sum.is = kind::holds;
  sum.why = "";
  for (const std::size_t few : {0u, 2u}) {  // the same number with fewer remote, and with more
    const auto &less = four[few], &more = four[few + 1];
    sum.why += fmt::format("{}x = {}: {:.2f} ms with {} remote elements, {:.2f} ms with {}",
                           few == 0 ? "" : "; ", number(less, "transactions"),
                           1e3 * median(less.at("seconds")), number(less, "remote"),
                           1e3 * median(more.at("seconds")), number(more, "remote"));
    if (!clearly_above(more.at("seconds"), less.at("seconds"))) sum.is = kind::fails;
  }
  for (const std::size_t remote : {0u, 1u}) {
    if (clearly_above(four[remote + 2].at("seconds"), four[remote].at("seconds"))) continue;
    sum.is = kind::fails;
    sum.why += "; more transactions take no longer";
  }
  return sum;
}

verdict::part back_off_of(points all) {
  verdict::part sum{"without back-off they may refuse each other for ever", kind::undecided, ""};
  bool for_ever = false, ended = true;
  for (const auto& p : all) {
    if (!p.contains("back_off")) continue;
    const bool with = p.at("back_off"), end = p.at("ended");
    if (with) ended = ended && end;
    if (!with) for_ever = for_ever || !end;
    sum.why +=
        fmt::format("{}{} ranks in step {} back-off: {} {} turns", sum.why.empty() ? "" : "; ",
                    number(p, "ranks"), with ? "with" : "without",
                    end ? "done after" : "none done in", number(p, "turns"));
  }
  if (sum.why.empty()) return sum.why = "nothing was measured", sum;
  sum.is = for_ever && ended ? kind::holds : kind::fails;
  return sum;
}

verdict::part chains_of(points all) {
  verdict::part sum{
      "a body that follows pointers begins again about once for each element that is "
      "not there",
      kind::undecided, ""};
  bool right = true;
  for (const auto& p : all) {
    if (!p.contains("chain")) continue;
    const auto elements = static_cast<double>(number(p, "chain"));
    const auto restarts =
        static_cast<double>(number(p, "restarts")) / static_cast<double>(number(p, "expected"));
    right = right && restarts >= elements && restarts < 2 * elements;
    sum.why += fmt::format("{}{:.2f} restarts for {} elements", sum.why.empty() ? "" : ", ",
                           restarts, number(p, "chain"));
  }
  if (sum.why.empty()) return sum.why = "nothing was measured", sum;
  sum.is = right ? kind::holds : kind::fails;
  return sum;
}

}  // namespace

verdict check_distributed(points all) {
  return whole({scenarios_of(all), back_off_of(all), chains_of(all)});
}

}  // namespace cairn::bench
