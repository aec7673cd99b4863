// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <bench/figures/claims.hpp>

// What the claims have in common; inline, because each stands in a file of its own.

namespace cairn::bench::claim_parts {

inline double median(const nlohmann::json& spread) { return spread.at("median").get<double>(); }
inline double mad(const nlohmann::json& spread) { return spread.at("mad").get<double>(); }

/// A ratio that is above 1, by more than its spread.
inline bool above_one(const nlohmann::json& ratio) { return median(ratio) > 1 + mad(ratio); }
/// A time that is above another, by more than the spreads.
inline bool clearly_above(const nlohmann::json& slow, const nlohmann::json& fast) {
  return median(slow) - median(fast) > mad(slow) + mad(fast);
}

/// The reason of the first point that says why something could not be measured.
inline std::optional<std::string> reason(points all, const char* member) {
  for (const auto& p : all) {
    if (p.contains(member)) return p.at(member).get<std::string>();
  }
  return std::nullopt;
}

}  // namespace cairn::bench::claim_parts
