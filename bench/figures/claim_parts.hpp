// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claims.hpp>

// What the claims have in common; inline, because each stands in a file of its own.

namespace cairn::bench::claim_parts {

using nlohmann::json;
using kind = verdict::kind;

inline double median(const json& spread) { return spread.at("median").get<double>(); }
inline double mad(const json& spread) { return spread.at("mad").get<double>(); }

/// A ratio that is above 1, by more than its spread.
inline bool above_one(const json& ratio) { return median(ratio) > 1 + mad(ratio); }
/// A time that is above another, by more than the spreads.
inline bool clearly_above(const json& slow, const json& fast) {
  return median(slow) - median(fast) > mad(slow) + mad(fast);
}

/// The reason of the first point that says why something could not be measured.
inline std::optional<std::string> reason(points all, const char* member) {
  for (const auto& p : all) {
    if (p.contains(member)) return p.at(member).get<std::string>();
  }
  return std::nullopt;
}

/// "htm" parts where there is none.
inline verdict::part without_htm(std::string claim, const std::string& why) {
  return {std::move(claim), kind::undecided, "no hardware transactions: " + why};
}

/// The claim as a whole: its parts' worst case, and their sentences.
inline verdict whole(std::vector<verdict::part> parts) {
  verdict sum{kind::holds, ""};
  for (const auto& p : parts) {
    if (p.is == kind::fails || sum.is == kind::holds) sum.is = p.is;
    sum.why += (sum.why.empty() ? "" : "; ") + p.claim + ": " + p.why;
  }
  sum.parts = std::move(parts);
  return sum;
}

/// The claims of all T, given the points of each that have `key`, in its ascending order: the first
/// that does not hold, else one that is undecided, else all.
template <class F>
verdict of_each_threads(points all, const char* key, F&& claim) {
  std::map<int, std::vector<json>> lists;
  for (const auto& p : all) {
    if (p.contains(key)) lists[p.at("threads").get<int>()].push_back(p);
  }
  if (lists.empty()) return {kind::undecided, "nothing was measured"};
  verdict sum{kind::holds, ""};
  for (auto& [threads, list] : lists) {
    std::sort(list.begin(), list.end(),
              [&](const auto& a, const auto& b) { return a.at(key) < b.at(key); });
    verdict one = claim(list);
    one.why = fmt::format("T = {}: {}", threads, one.why);
    if (one.is == kind::fails) return one;
    if (one.is == kind::undecided) sum.is = one.is;
    sum.why += (sum.why.empty() ? "" : "; ") + one.why;
  }
  return sum;
}

/// How many of the attempts of a point {"attempts", "aborts": {cause: number}} ended so.
inline double share(const json& point, const char* cause) {
  const auto attempts = point.at("attempts").get<double>();
  return attempts > 0 ? point.at("aborts").at(cause).get<double>() / attempts : 0;
}

}  // namespace cairn::bench::claim_parts
