// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;
using claim_parts::clearly_above;
using claim_parts::median;

/// The ratios of all points that have one, in ascending order.
std::vector<double> ratios(points all, const char* member) {
  std::vector<double> found;
  for (const auto& p : all) {
    if (p.contains(member)) found.push_back(median(p.at(member)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

verdict check_graphs(points all) {
  const auto by_hand = ratios(all, "by_hand_ratio");
  if (by_hand.empty()) return {kind::undecided, "nothing was measured"};
  const auto beside = fmt::format(
      "atomics have {:.2f} to {:.2f} times the speed of the search "
      "by hand",
      by_hand.front(), by_hand.back());
  if (const auto why = claim_parts::reason(all, "no_htm"))
    return {kind::undecided, "no hardware transactions: " + *why + "; " + beside};
  for (const auto& p : all) {
    if (claim_parts::above_one(p.at("ratio"))) continue;
    return {kind::fails, fmt::format("{:.2f} times the speed of atomics at scale {}, degree {}; {}",
                                     median(p.at("ratio")), p.at("scale").get<int>(),
                                     p.at("degree").get<int>(), beside)};
  }
  const auto gains = ratios(all, "ratio");
  return {kind::holds, fmt::format("{:.2f} to {:.2f} times the speed of atomics; {}", gains.front(),
                                   gains.back(), beside)};
}

verdict check_threads(points all) {
  std::map<std::string, std::map<int, json>> times;
  for (const auto& p : all) {
    if (!p.contains("no_htm"))
      times[p.at("mechanism").get<std::string>()][p.at("threads").get<int>()] = p.at("seconds");
  }
  if (times.empty()) return {kind::undecided, "nothing was measured"};
  verdict sum{kind::holds, ""};
  for (const auto& [mechanism, by_threads] : times) {
    const auto& [least, slow] = *by_threads.begin();
    const auto& [most, fast] = *by_threads.rbegin();
    if (least != 1 || most == 1) return {kind::undecided, "one number of threads tells nothing"};
    if (!clearly_above(slow, fast)) sum.is = kind::fails;
    sum.why += fmt::format("{}{} {:.2f} times as fast on {} threads", sum.why.empty() ? "" : ", ",
                           mechanism, median(slow) / median(fast), most);
  }
  if (const auto why = claim_parts::reason(all, "no_htm")) sum.why += "; htm not measured: " + *why;
  return sum;
}

}  // namespace cairn::bench
