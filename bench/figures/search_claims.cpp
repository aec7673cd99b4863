// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using namespace claim_parts;

/// The ratios of all points that have one, in ascending order.
std::vector<double> ratios(points all, const char* member) {
  std::vector<double> found;
  for (const auto& p : all) {
    if (p.contains(member)) found.push_back(median(p.at(member)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// What a way's speed is, in that of a baseline: their ratio, of runs that both followed those of
/// the choice. A baseline that is not there, or a way, has none.
std::optional<double> speed(const json& p, const char* baseline, const char* way) {
  if (!p.contains(baseline) || (way != nullptr && !p.contains(way))) return std::nullopt;
  return median(p.at(baseline)) / (way == nullptr ? 1 : median(p.at(way)));
}

/// "-" or the geometric mean of a kind's graphs.
std::string mean_speed(points all, const std::string& of_kind, const char* baseline,
                       const char* way) {
  double sum = 0;
  int number = 0;
  for (const auto& p : all) {
    if (!p.contains("kind") || p.at("kind") != of_kind) continue;
    const auto s = speed(p, baseline, way);
    if (!s) continue;
    sum += std::log(*s);
    ++number;
  }
  return number == 0 ? "-" : fmt::format("{:.2f}", std::exp(sum / number));
}

/// The paper's columns, M fixed, online and best, against each baseline by kind of graph.
std::string table_columns(points all) {
  std::set<std::string> kinds;
  for (const auto& p : all) {
    if (p.contains("kind")) kinds.insert(p.at("kind").get<std::string>());
  }
  std::string said = "speeds by M fixed / online / best, geometric means";
  for (const auto& [baseline, name] : {std::pair{"atomics_ratio", "atomics"},
                                       {"by_hand_ratio", "by hand"},
                                       {"vertex_program_ratio", "vertex program"}}) {
    said += fmt::format("; against {}:", name);
    for (const auto& k : kinds) {
      said +=
          fmt::format("{} {} {} / {} / {}", k == *kinds.begin() ? "" : ",", k,
                      mean_speed(all, k, baseline, "fixed_ratio"),
                      mean_speed(all, k, baseline, nullptr), mean_speed(all, k, baseline, "ratio"));
    }
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

/// Whether a graph's choice is near enough; if not or not decided, the sentence.
verdict choice_on(const json& p) {
  const bool is_long = median(p.at("seconds")) >= 0.02;
  const auto& ratio = p.at(is_long ? "ratio" : "atomics_ratio");  // a time by that of the choice
  const double loss = is_long ? 0.05 : 0.1;
  const auto said =
      fmt::format("{}: {} takes {:.2f} +- {:.2f} of the time of what is chosen",
                  p.at("graph").get<std::string>(),
                  is_long ? p.at("best").get<std::string>() : "atomics", median(ratio), mad(ratio));
  const bool noisy = mad(ratio) > loss;
  if (median(ratio) + (noisy ? mad(ratio) : 0) < 1 - loss) return {kind::fails, said};
  if (noisy) return {kind::undecided, said + ", a spread too large to tell"};
  return {kind::holds, ""};
}

}  // namespace

verdict check_table(points all) {
  int long_runs = 0, graphs = 0;
  std::string unclear;
  for (const auto& p : all) {
    if (!p.contains("graph")) continue;
    ++graphs;
    if (median(p.at("seconds")) >= 0.02) ++long_runs;
    const auto here = choice_on(p);
    if (here.is == kind::fails) return here;
    if (here.is == kind::undecided) unclear += (unclear.empty() ? "" : "; ") + here.why;
  }
  if (graphs == 0) return {kind::undecided, "no graph was there"};
  if (!unclear.empty()) return {kind::undecided, unclear + "; " + table_columns(all)};
  const auto near = long_runs == 0 ? fmt::format("of {} graphs no search exceeds 20 ms", graphs)
                                   : fmt::format(
                                         "on the {} of {} graphs whose search exceeds 20 ms the "
                                         "choice is within 5 % of the best",
                                         long_runs, graphs);
  const auto beside = near + "; " + table_columns(all);
  if (const auto why = reason(all, "no_htm")) {
    return {kind::undecided,
            fmt::format("no hardware transactions, so no M to choose: {}; {}", *why, beside)};
  }
  if (const auto apart = kind_apart(all); !apart.empty()) return {kind::fails, apart};
  return {long_runs == 0 ? kind::undecided : kind::holds, beside};
}

verdict check_graphs(points all) {
  const auto by_hand = ratios(all, "by_hand_ratio");
  if (by_hand.empty()) return {kind::undecided, "nothing was measured"};
  const auto beside = fmt::format(
      "atomics have {:.2f} to {:.2f} times the speed of the search "
      "by hand",
      by_hand.front(), by_hand.back());
  if (const auto why = reason(all, "no_htm"))
    return {kind::undecided, "no hardware transactions: " + *why + "; " + beside};
  for (const auto& p : all) {
    if (above_one(p.at("ratio"))) continue;
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
  verdict::part software{"each mechanism in software speeds up with the threads", kind::holds, ""};
  verdict::part hardware{"htm does", kind::holds, ""};
  for (const auto& [mechanism, by_threads] : times) {
    const auto& [least, slow] = *by_threads.begin();
    const auto& [most, fast] = *by_threads.rbegin();
    if (least != 1 || most == 1) return {kind::undecided, "one number of threads tells nothing"};
    auto& sum = mechanism == "htm" ? hardware : software;
    if (!clearly_above(slow, fast)) sum.is = kind::fails;
    sum.why += fmt::format("{}{} {:.2f} times as fast on {} threads", sum.why.empty() ? "" : ", ",
                           mechanism, median(slow) / median(fast), most);
  }
  if (const auto why = reason(all, "no_htm")) hardware = without_htm(hardware.claim, *why);
  if (hardware.why.empty()) return whole({software});
  return whole({software, hardware});
}

}  // namespace cairn::bench
