// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
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

/// What a policy counted and took at each M, on so many threads.
using by_grain = std::map<int, json>;
struct policies {
  by_grain rtm, hle, bgq;
};

std::map<int, policies> policies_of(points all) {
  std::map<int, policies> found;
  for (const auto& p : all) {
    if (!p.contains("retry")) continue;
    auto& here = found[p.at("threads").get<int>()];
    const auto name = p.at("retry").get<std::string>();
    auto& list = name == "rtm" ? here.rtm : name == "hle" ? here.hle : here.bgq;
    list[p.at("grain").get<int>()] = p;
  }
  std::erase_if(found, [](const auto& at) {
    return at.second.rtm.empty() || at.second.hle.empty() || at.second.bgq.empty();
  });
  return found;
}

/// The share of the activities that ended in the fallback.
double serialised(const json& point) {
  const auto fallbacks = point.at("fallbacks").get<double>();
  const auto committed = point.at("attempts").get<double>() - static_cast<double>(aborts(point));
  return fallbacks > 0 ? fallbacks / (committed + fallbacks) : 0;
}

/// What is wrong with the counts of the policies at an M; empty: nothing.
std::string miscounted(const json& rtm, const json& hle, const json& bgq) {
  constexpr std::uint64_t bgq_attempts = 11;  // the first one and ten retries
  constexpr double noise = 0.01;              // where nearly all serialise by each policy
  const auto fallbacks = [](const json& p) { return p.at("fallbacks").get<std::uint64_t>(); };
  if (fallbacks(hle) != aborts(hle))
    return fmt::format("hle serialises {} times after {} aborts", fallbacks(hle), aborts(hle));
  if (aborts(bgq) < bgq_attempts * fallbacks(bgq))
    return fmt::format("bgq serialises {} times after {} aborts", fallbacks(bgq), aborts(bgq));
  for (const auto* const p : {&rtm, &bgq}) {
    if (serialised(*p) > serialised(hle) + noise) {
      return fmt::format("{:.1f} % of the activities serialise by {}, {:.1f} % by hle",
                         100 * serialised(*p), p->at("retry").get<std::string>(),
                         100 * serialised(hle));
    }
  }
  return "";
}

/// How the counts came about, where the machine did not make them.
std::string origin(points all) {
  const bool emulated =
      std::any_of(all.begin(), all.end(), [](const json& p) { return p.value("emulated", false); });
  return emulated ? "emulated, with injected aborts; " : "";
}

verdict::part serialisations_of(points all) {
  verdict::part sum{
      "hle serialises after the first abort and bgq after ten retries, and by no policy more of "
      "the activities do than by hle",
      kind::undecided, "nothing was measured"};
  std::string said;
  for (const auto& [threads, of] : policies_of(all)) {
    for (const auto& [m, hle] : of.hle) {
      if (!of.rtm.contains(m) || !of.bgq.contains(m)) continue;
      const auto &rtm = of.rtm.at(m), &bgq = of.bgq.at(m);
      if (const auto wrong = miscounted(rtm, hle, bgq); !wrong.empty()) {
        return {sum.claim, kind::fails, fmt::format("T = {}, M = {}: {}", threads, m, wrong)};
      }
      said += fmt::format("{}T = {}, M = {}: {:.1f} / {:.1f} / {:.1f} %", said.empty() ? "" : ", ",
                          threads, m, 100 * serialised(bgq), 100 * serialised(rtm),
                          100 * serialised(hle));
    }
  }
  if (said.empty()) return sum;
  return {sum.claim, kind::holds, origin(all) + "serialised by bgq / rtm / hle: " + said};
}

verdict::part rise_of_bgq(points all) {
  verdict::part sum{"more of the activities serialise by bgq at the largest M than at the least",
                    kind::undecided, "one M: nothing to compare"};
  std::string said;
  for (const auto& [threads, of] : policies_of(all)) {
    if (of.bgq.size() < 2) continue;
    const auto& [least, first] = *of.bgq.begin();
    const auto& [most, last] = *of.bgq.rbegin();
    const bool rises = serialised(last) > serialised(first);
    if (sum.is != kind::fails) sum.is = rises ? kind::holds : kind::fails;
    said +=
        fmt::format("{}T = {}: {:.1f} % at M = {}, {:.1f} % at M = {}", said.empty() ? "" : ", ",
                    threads, 100 * serialised(first), least, 100 * serialised(last), most);
  }
  if (!said.empty()) sum.why = origin(all) + said;
  return sum;
}

const char* const passing = "rtm is faster than hle at the least M, and slower at the largest";

verdict::part hle_passes_rtm(points all) {
  verdict::part sum{passing, kind::undecided, "nothing was measured"};
  std::string said;
  for (const auto& [threads, of] : policies_of(all)) {
    if (of.hle.size() < 2) continue;
    const auto& [least, first] = *of.hle.begin();
    const auto& [most, last] = *of.hle.rbegin();
    const auto &fast = first.at("rtm_ratio"), &slow = last.at("rtm_ratio");
    const bool here = median(fast) < 1 - mad(fast) && above_one(slow);
    if (sum.is != kind::fails) sum.is = here ? kind::holds : kind::fails;
    said += fmt::format("{}T = {}: hle takes {:.2f} of rtm's time at M = {}, {:.2f} at M = {}",
                        said.empty() ? "" : ", ", threads, 1 / median(fast), least,
                        1 / median(slow), most);
  }
  if (!said.empty()) sum.why = said;
  return sum;
}

/// The points of the policy that the curve is about; those that name none are of it.
std::vector<json> of_rtm(points all) {
  std::vector<json> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [](const json& p) { return p.value("retry", "rtm") == "rtm"; });
  return found;
}

}  // namespace

verdict check_grain(points all) {
  const std::string curve = "the time falls to a best M and rises after it, with the aborts";
  const std::string ends = "associativity, not size, ends a transaction";
  const auto counted = serialisations_of(all), rise = rise_of_bgq(all);
  if (const auto why = reason(all, "no_htm")) {
    return whole({without_htm(curve, *why), without_htm(ends, *why), counted, rise,
                  without_htm(passing, *why)});
  }
  const auto by_threads = of_each_threads(of_rtm(all), "grain", grain_of);
  return whole({{curve, by_threads.is, by_threads.why},
                associativity_of(all, ends),
                counted,
                rise,
                hle_passes_rtm(all)});
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
