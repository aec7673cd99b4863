// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cairn::bench {

/// Whether a figure's claim holds, and the one sentence that says why. A claim of several parts
/// fails if one of them does, and holds if all of them do.
struct verdict {
  enum class kind { holds, fails, undecided };
  struct part {
    std::string claim;
    kind is;
    std::string why;
  };

  kind is = kind::undecided;
  std::string why;
  std::vector<part> parts{};

  [[nodiscard]] const char* text() const noexcept { return name(is); }
  [[nodiscard]] static const char* name(kind k) noexcept {
    return k == kind::holds ? "holds" : k == kind::fails ? "does not hold" : "not decided here";
  }
};

/// What a program writes at the end of its sweep: "verdict", "why" and, if there are parts,
/// "parts": [{"claim", "verdict", "why"}].
[[nodiscard]] nlohmann::json json_of(const verdict& v);

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

/// Figure 4, in five parts. For each T the time falls to a best M and rises after it, by more than
/// the MADs; the best M gains; and where the time rises, a larger share of the attempts aborts.
/// Associativity ends transactions before size does: capacity aborts half of the attempts at
/// fewer vertices a page apart than side by side.
/// Of the retry policies: hle serialises once for each abort, bgq once for eleven or more, and no
/// policy a larger share of the activities than hle; bgq a larger one at the largest M than at
/// the least. These two are counted, and so decided by emulated transactions too. By the time rtm
/// is faster than hle at the least M and slower at the largest.
///
/// points    {"threads", "grain", "retry", "seconds", "ratio", "attempts", "aborts": {cause:
///           number}, "fallbacks"}, of hle and bgq "rtm_ratio", the time by rtm by theirs, in the
///           place of "ratio", and of emulated transactions no times; and
///           {"layout": "contiguous" or "strided", "vertices", "attempts", "aborts"}
[[nodiscard]] verdict check_grain(points all);

/// Figures 5a and b: of the aborts at M = 2, on more than one thread, conflict or capacity has the
/// larger share throughout. Which of them it is tells machines apart.
///
/// points    {"threads", "attempts", "aborts": {cause: number}}
[[nodiscard]] verdict check_causes(points all);

/// Figure 5i, in three parts. Transactions over ranks all commit, and those with more remote
/// elements take longer, as more of them do. Without back-off they may refuse each other for
/// ever, with it they do not. A body that follows a chain begins again once for each of its
/// elements, but not twice as often.
///
/// points    {"transactions", "local", "remote", "seconds", "expected", "commits", "restarts"}; of
///           the first three, two each; {"back_off": bool, "ranks", "turns", "ended": bool}; and
///           {"chain": elements, "expected", "commits", "restarts"}
[[nodiscard]] verdict check_distributed(points all);

/// Figure 2, in two parts. An activity by htm costs more to begin than one by atomics and less per
/// vertex (B and A of the fitted lines), and the lines meet within a factor of 2 of where the
/// times do. And so do the lines of the other mechanisms, or neither they nor the times meet at
/// an N that was measured. Lines that explain less than 0.9 of their samples' variance prove
/// nothing by that: not decided.
///
/// points    {"mechanism", "fit": {"per_vertex_ns", "fixed_ns", "r_squared"}, "predicted",
///           "measured"}, the last two numbers, null for none, and not of atomics; and
///           {"mechanism", "vertices": N, "seconds"}
[[nodiscard]] verdict check_model(points all);

/// Figure 3, in three parts. On one thread a mark by htm costs more than by atomics, and at most a
/// twentieth of the attempts to mark aborts. With all threads at least a tenth of the attempts to
/// increment by htm aborts, and more than on one thread. An aggregator's increments never abort;
/// their time is said beside the others', and how many attempts by stm abort.
///
/// points    {"activity": "mark" or "increment", "operations", "threads", "mechanism",
///           "seconds", "attempts", "aborts"}, aborts a number
[[nodiscard]] verdict check_single(points all);

/// Figures 5c to h, for marks and for increments: from one rank to another, messages that travel
/// alone are slower than one-sided MPI and some C are enough to be faster; and with several
/// ranks sending to one, coalesced ones are faster.
///
/// points    {"work", "ranks", "cores", "messages": C, "ratio"}, C = 1 and more on 2 ranks; a
///           ratio is the time of one-sided MPI by that of activities; or {"no_mpi": reason}
[[nodiscard]] verdict check_remote(points all);

/// Figures 7c to e: PageRank by coalesced messages takes at most a third of the time that it
/// takes by messages that travel alone, at every point of several ranks. The fastest split of the
/// cores into ranks and threads is said.
///
/// points    {"ranks", "threads", "vertices", "seconds", "pull": ratio}, "alone": ratio with
///           several ranks, and "mpi_pull" where there is MPI: the time by messages that travel
///           alone, by pulling, and by pulling by hand, by that of coalesced ones
[[nodiscard]] verdict check_pagerank(points all);

/// Figure 6: coarse transactions gain at every point.
///
/// points    {"scale", "degree", "ratio", "by_hand_ratio"}, the last the time of the search by
///           hand by that of atomics, which is said where there is no htm
[[nodiscard]] verdict check_graphs(points all);

/// Figures 7a and b, in two parts, the second for htm: each mechanism is faster on all threads than
/// on one, by more than the MADs.
///
/// points    {"mechanism", "threads", "seconds"}, from 1 thread on
[[nodiscard]] verdict check_threads(points all);

/// Table 1: where a search exceeds 20 ms, the time by the mechanism and M that the runtime
/// chooses is within 5 % of the best of the sweep, and where it does not, at most 10 % slower than
/// atomics; and of graphs of one kind the best M of htm are within a factor of 4. The medians
/// count: a graph whose MAD is above these 5 or 10 % decides nothing, unless it is lost by more
/// than the MAD too. The last part is not decided without htm. Said are the paper's columns: M
/// fixed, online, best.
///
/// points    {"graph", "kind", "seconds", "ratio", "atomics_ratio", "by_hand_ratio",
///           "vertex_program_ratio", "fixed_ratio", "best", "htm_grain"}: the time by the
///           runtime's choice; those of the best one, of the baselines and of htm with M fixed by
///           it; the best M of htm, the last two where there is htm; {"missing": name} for a
///           graph that was not there
[[nodiscard]] verdict check_table(points all);

/// Scaling: where the simulated cluster predicts what runs here too, the messages of each level
/// are the same, the buffers are within 10 %, and of each two settings whose measured times differ
/// by a tenth and more than the spread the faster one is predicted to be it.
///
/// points    {"job", "real_ranks", "messages", "simulated_messages", "buffers",
///           "simulated_buffers"} and {"job", "setting", "measured": time, "predicted": seconds};
///           others are not looked at
[[nodiscard]] verdict check_scaling(points all);

/// The points of the last whole sweep among the lines that a figure's program wrote: those
/// between its verdict and the verdict before it.
/// Throws    std::runtime_error for a line that is not JSON, or if there is no verdict
[[nodiscard]] std::vector<nlohmann::json> last_sweep(std::istream& lines,
                                                     const std::string& figure);

}  // namespace cairn::bench
