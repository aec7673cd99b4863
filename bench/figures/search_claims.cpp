// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
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

/// "kind 1.23, kind 2.34": geometric means of the ratios of a kind's graphs.
std::string means_by_kind(points all, const char* member) {
  std::map<std::string, std::pair<double, int>> logs;
  for (const auto& p : all) {
    if (!p.contains(member)) continue;
    auto& [sum, number] = logs[p.at("kind").get<std::string>()];
    sum += std::log(median(p.at(member)));
    ++number;
  }
  std::string said;
  for (const auto& [kind_of_graph, log] : logs) {
    said += fmt::format("{}{} {:.2f}", said.empty() ? "" : ", ", kind_of_graph,
                        std::exp(log.first / log.second));
  }
  return said;
}

/// A kind of graphs whose best M are far apart; empty: none.
std::string kind_apart(points all) {
  std::map<std::string, std::pair<double, double>> grains;
  for (const auto& p : all) {
    if (!p.contains("htm_grain")) continue;
    const auto m = p.at("htm_grain").get<double>();
    const auto at = grains.try_emplace(p.at("kind").get<std::string>(), m, m).first;
    at->second.first = std::min(at->second.first, m);
    at->second.second = std::max(at->second.second, m);
  }
  for (const auto& [kind_of_graph, range] : grains) {
    if (range.second > 4 * range.first) {
      return fmt::format("{} like M from {} to {}", kind_of_graph, range.first, range.second);
    }
  }
  return "";
}

}  // namespace

verdict check_table(points all) {
  int long_runs = 0, graphs = 0;
  for (const auto& p : all) {
    if (!p.contains("graph")) continue;
    ++graphs;
    if (median(p.at("seconds")) < 0.02) continue;
    ++long_runs;
    const auto& ratio = p.at("ratio");  // the best one's time by that of the choice
    if (median(ratio) + claim_parts::mad(ratio) >= 0.95) continue;
    return {kind::fails, fmt::format("{}: {} takes {:.2f} of the time of what is chosen",
                                     p.at("graph").get<std::string>(),
                                     p.at("best").get<std::string>(), median(ratio))};
  }
  if (graphs == 0) return {kind::undecided, "no graph was there"};
  const auto beside = fmt::format(
      "{} graphs, {} of them above 20 ms; times by hand by those of the choice, geometric means: "
      "{}",
      graphs, long_runs, means_by_kind(all, "by_hand_ratio"));
  if (const auto why = claim_parts::reason(all, "no_htm")) {
    return {kind::undecided, fmt::format("no hardware transactions, so no M to choose: {}; among "
                                         "the rest the choice is within 5 % of the best; {}",
                                         *why, beside)};
  }
  if (const auto apart = kind_apart(all); !apart.empty()) return {kind::fails, apart};
  if (long_runs == 0) return {kind::undecided, "no run exceeds 20 ms; " + beside};
  return {kind::holds, beside};
}

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
