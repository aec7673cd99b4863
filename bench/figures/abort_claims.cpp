// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using namespace claim_parts;

std::uint64_t aborts(const json& point) {
  std::uint64_t all = 0;
  for (const auto& [cause, number] : point.at("aborts").items()) {
    all += number.get<std::uint64_t>();
  }
  return all;
}

double aborted(const json& point) {
  const auto attempts = point.at("attempts").get<double>();
  return attempts > 0 ? static_cast<double>(aborts(point)) / attempts : 0;
}

/// The cause whose share of the attempts grew most from one point to another.
std::string grown_cause(const json& from, const json& to) {
  std::string most;
  double by = 0;
  for (const auto& [cause, unused] : to.at("aborts").items()) {
    const auto growth = share(to, cause.c_str()) - share(from, cause.c_str());
    if (growth > by) std::tie(most, by) = std::pair(cause, growth);
  }
  return most;
}

verdict grain_of(const std::vector<json>& sweep) {
  const auto& best =
      *std::min_element(sweep.begin(), sweep.end(), [](const json& a, const json& b) {
        return median(a.at("seconds")) < median(b.at("seconds"));
      });
  const auto &first = sweep.front(), &last = sweep.back();
  const auto m = best.at("grain").get<int>();
  if (!clearly_above(first.at("seconds"), best.at("seconds"))) {
    return {kind::fails, fmt::format("the time does not fall on the way to M = {}", m)};
  }
  if (!clearly_above(last.at("seconds"), best.at("seconds"))) {
    return {kind::fails, fmt::format("the time does not rise after M = {}", m)};
  }
  if (!above_one(best.at("ratio"))) {
    return {kind::fails, fmt::format("the best M, {}, takes {:.2f} of atomics' time", m,
                                     1 / median(best.at("ratio")))};
  }
  const auto before = aborted(best), after = aborted(last);
  const auto shares = fmt::format("{:.1f} % of the attempts abort at M = {}, {:.1f} % at M = {}",
                                  100 * before, m, 100 * after, last.at("grain").get<int>());
  if (after <= before) return {kind::fails, "aborts do not explain the rise: " + shares};
  return {kind::holds, fmt::format("M = {} takes {:.2f} of atomics' time; {}, mostly by {}", m,
                                   1 / median(best.at("ratio")), shares, grown_cause(best, last))};
}

/// The smallest number of vertices that capacity keeps half of the attempts from committing;
/// 0: none that was measured.
int capacity_of(points all, const char* layout) {
  int least = 0;
  for (const auto& p : all) {
    if (p.value("layout", "") != layout || share(p, "capacity") < 0.5) continue;
    const auto n = p.at("vertices").get<int>();
    if (least == 0 || n < least) least = n;
  }
  return least;
}

verdict::part associativity_of(points all, std::string claim) {
  const auto measured = [&](const char* layout) {
    return std::any_of(all.begin(), all.end(),
                       [&](const json& p) { return p.value("layout", "") == layout; });
  };
  if (!measured("contiguous") || !measured("strided"))
    return {std::move(claim), kind::undecided, "nothing was measured"};
  const auto beside = capacity_of(all, "contiguous"), apart = capacity_of(all, "strided");
  const auto said = [](int n) { return n == 0 ? std::string("none") : std::to_string(n); };
  return {std::move(claim),
          apart > 0 && (beside == 0 || apart < beside) ? kind::holds : kind::fails,
          fmt::format("too many vertices for a transaction: {} a page apart, {} side by side",
                      said(apart), said(beside))};
}

}  // namespace

verdict check_grain(points all) {
  const std::string curve = "the time falls to a best M and rises after it, with the aborts";
  const std::string ends = "associativity, not size, ends a transaction";
  if (const auto why = reason(all, "no_htm")) {
    return whole({without_htm(curve, *why), without_htm(ends, *why)});
  }
  const auto by_threads = of_each_threads(all, "grain", grain_of);
  return whole({{curve, by_threads.is, by_threads.why}, associativity_of(all, ends)});
}

verdict check_causes(points all) {
  if (const auto why = reason(all, "no_htm"))
    return {kind::undecided, "no hardware transactions: " + *why};
  verdict sum{kind::undecided, ""};
  int sign = 0;
  for (const auto& p : all) {
    const auto conflict = share(p, "conflict"), capacity = share(p, "capacity");
    const auto threads = p.at("threads").get<int>();
    sum.why += fmt::format("{}T = {}: {:.2f} % conflict, {:.2f} % capacity",
                           sum.why.empty() ? "of the attempts, " : "; ", threads, 100 * conflict,
                           100 * capacity);
    if (threads == 1) continue;
    const int here = conflict > capacity ? 1 : -1;
    sum.is = sum.is != kind::fails && (sign == 0 || sign == here) ? kind::holds : kind::fails;
    sign = here;
  }
  if (sign == 0) sum.why += "; one thread: nothing to conflict with";
  return sum;
}

}  // namespace cairn::bench
