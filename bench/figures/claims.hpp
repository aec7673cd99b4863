// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cairn::bench {

/// Whether a figure's claim holds, and the one sentence that says why.
struct verdict {
  enum class kind { holds, fails, undecided };
  kind is = kind::undecided;
  std::string why;

  [[nodiscard]] const char* text() const noexcept {
    return is == kind::holds ? "holds" : is == kind::fails ? "does not hold" : "not decided here";
  }
};

/// A point is a JSON line of a sweep. Of each figure, times and ratios are {"median", "mad"}, and
/// a ratio is the time of atomics by that of htm, of runs that followed each other: above 1 where
/// htm was the faster. A sweep that could not run htm has a point {"no_htm": reason} instead, and
/// decides nothing.
using points = std::span<const nlohmann::json>;

/// Figure 1: coarse transactions gain in the heavy middle levels. A level is heavy if it takes a
/// tenth of the search by atomics, and a gain is a ratio above 1 by more than its MAD.
///
/// points    {"threads", "level", "atomics", "htm", "ratio"}, at least three levels for each T
[[nodiscard]] verdict check_phases(points all);

/// Figure 4: for each T the time falls to a best M and rises after it, by more than the MADs; the
/// best M gains; and where the time rises, a larger share of the attempts aborts.
///
/// points    {"threads", "grain", "seconds", "ratio", "attempts", "aborts": {cause: number}}
[[nodiscard]] verdict check_grain(points all);

/// Figure 5i: transactions over ranks all commit, and those with more remote elements take longer,
/// as more of them do; how often they began again is said.
///
/// points    {"transactions", "local", "remote", "seconds", "expected", "commits", "restarts"}; of
///           the first three, two each
[[nodiscard]] verdict check_distributed(points all);

/// The points of the last whole sweep among the lines that a figure's program wrote: those
/// between its verdict and the verdict before it.
/// Throws    std::runtime_error for a line that is not JSON, or if there is no verdict
[[nodiscard]] std::vector<nlohmann::json> last_sweep(std::istream& lines,
                                                     const std::string& figure);

}  // namespace cairn::bench
