// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

const json* fitted(points all, const char* mechanism) {
  for (const auto& p : all) {
    if (p.contains("fit") && p.at("mechanism") == mechanism) return &p;
  }
  return nullptr;
}

double fit(const json& point, const char* what) { return point.at("fit").at(what).get<double>(); }

std::string where(const json& number) {
  return number.is_null() ? "nowhere" : fmt::format("N = {:.1f}", number.get<double>());
}

/// The largest N that was measured.
double largest_size(points all) {
  double most = 0;
  for (const auto& p : all) most = std::max(most, p.value("vertices", 0.0));
  return most;
}

/// Whether a predicted crossing is where the measured one is: within a factor of 2, or both
/// beyond what was measured.
bool agree(const json& predicted, const json& measured, double largest) {
  if (measured.is_null()) return predicted.is_null() || predicted.get<double>() > largest;
  if (predicted.is_null()) return false;
  const auto off = predicted.get<double>() / measured.get<double>();
  return off <= 2 && off >= 0.5;
}

constexpr double least_r_squared = 0.9;

/// Whether a mechanism's line or that of atomics is too poor to predict anything.
bool poor(const json& point, const json* atomics) {
  return fit(point, "r_squared") < least_r_squared ||
         (atomics != nullptr && fit(*atomics, "r_squared") < least_r_squared);
}

/// The part about the mechanisms in software.
verdict::part crossings(points all) {
  verdict::part sum{"in software the fitted crossings are where the times cross", kind::holds, ""};
  const auto* const atomics = fitted(all, "atomics");
  for (const auto& p : all) {
    if (!p.contains("predicted") || p.at("mechanism") == "htm") continue;
    if (!agree(p.at("predicted"), p.at("measured"), largest_size(all))) {
      sum.is = kind::fails;
    } else if (poor(p, atomics) && sum.is == kind::holds) {
      sum.is = kind::undecided;
    }
    sum.why += fmt::format("{}{} beats atomics from {} (predicted, R^2 {:.3f}), {} (measured)",
                           sum.why.empty() ? "" : ", ", p.at("mechanism").get<std::string>(),
                           where(p.at("predicted")), fit(p, "r_squared"), where(p.at("measured")));
  }
  if (sum.why.empty()) {
    sum.is = kind::undecided, sum.why = "nothing was measured";
  } else if (atomics != nullptr) {
    sum.why += fmt::format("; R^2 of atomics {:.3f}", fit(*atomics, "r_squared"));
  }
  return sum;
}

struct share_of {
  std::uint64_t attempts = 0, aborts = 0;
  [[nodiscard]] double value() const {
    return attempts ? static_cast<double>(aborts) / static_cast<double>(attempts) : 0;
  }
};

share_of aborted(points all, const char* activity, const char* mechanism, int threads) {
  share_of sum;
  for (const auto& p : all) {
    if (p.contains("no_htm") || p.at("activity") != activity || p.at("mechanism") != mechanism ||
        p.at("threads") != threads) {
      continue;
    }
    sum.attempts += p.at("attempts").get<std::uint64_t>();
    sum.aborts += p.at("aborts").get<std::uint64_t>();
  }
  return sum;
}

int most_threads(points all) {
  int most = 0;
  for (const auto& p : all) {
    if (!p.contains("no_htm")) most = std::max(most, p.at("threads").get<int>());
  }
  return most;
}

/// Of single-thread marks: what is wrong with "htm costs more"; empty: nothing.
std::string cheap_marks(points all) {
  for (const auto& htm : all) {
    if (htm.at("activity") != "mark" || htm.at("mechanism") != "htm" || htm.at("threads") != 1) {
      continue;
    }
    for (const auto& atomics : all) {
      if (atomics.at("activity") == "mark" && atomics.at("mechanism") == "atomics" &&
          atomics.at("threads") == 1 && atomics.at("operations") == htm.at("operations") &&
          !clearly_above(htm.at("seconds"), atomics.at("seconds"))) {
        return fmt::format("{} marks by htm do not cost more than by atomics",
                           htm.at("operations").get<int>());
      }
    }
  }
  return "";
}

verdict::part htm_model(points all) {
  verdict::part sum{
      "htm costs more to begin and less per vertex than atomics, and the fitted "
      "crossing is where the times cross",
      kind::undecided, "nothing was measured"};
  const auto *const htm = fitted(all, "htm"), *const atomics = fitted(all, "atomics");
  if (htm == nullptr || atomics == nullptr) return sum;
  sum.why = fmt::format(
      "B(htm) = {:.1f} ns, B(atomics) = {:.1f} ns, A(htm) = {:.2f} ns, A(atomics) = {:.2f} ns; "
      "htm beats atomics from {} (predicted), {} (measured); R^2 {:.3f} and {:.3f}",
      fit(*htm, "fixed_ns"), fit(*atomics, "fixed_ns"), fit(*htm, "per_vertex_ns"),
      fit(*atomics, "per_vertex_ns"), where(htm->at("predicted")), where(htm->at("measured")),
      fit(*htm, "r_squared"), fit(*atomics, "r_squared"));
  const bool lines = fit(*htm, "fixed_ns") > fit(*atomics, "fixed_ns") &&
                     fit(*htm, "per_vertex_ns") < fit(*atomics, "per_vertex_ns");
  const bool cross = !htm->at("measured").is_null() &&
                     agree(htm->at("predicted"), htm->at("measured"), largest_size(all));
  sum.is = !lines || !cross ? kind::fails : poor(*htm, atomics) ? kind::undecided : kind::holds;
  return sum;
}

verdict::part marks_by_htm(points all, int most) {
  verdict::part sum{"a mark by htm costs more than by compare-and-swap, and hardly aborts",
                    kind::holds, cheap_marks(all)};
  const auto share = aborted(all, "mark", "htm", most).value();
  if (!sum.why.empty() || share > 0.05) sum.is = kind::fails;
  sum.why += fmt::format("{}{:.1f} % of the attempts to mark abort", sum.why.empty() ? "" : "; ",
                         100 * share);
  return sum;
}

verdict::part increments_by_htm(points all, int most) {
  verdict::part sum{"increments by htm abort ever more with the threads", kind::undecided,
                    "one thread: nothing to conflict with"};
  if (most == 1) return sum;
  const auto few = aborted(all, "increment", "htm", 1).value();
  const auto many = aborted(all, "increment", "htm", most).value();
  sum.is = many >= 0.1 && many > few ? kind::holds : kind::fails;
  sum.why = fmt::format("{:.1f} % of the attempts on one thread, {:.1f} % on {}", 100 * few,
                        100 * many, most);
  return sum;
}

/// "atomics 12.3, stm 45.6": ns of an increment on so many threads, most operations in a row.
std::string times_of_increments(points all, int threads) {
  std::map<std::string, std::pair<int, double>> times;
  for (const auto& p : all) {
    if (p.contains("no_htm") || p.at("activity") != "increment" || p.at("threads") != threads)
      continue;
    const auto operations = p.at("operations").get<int>();
    auto& [of, ns] = times[p.at("mechanism").get<std::string>()];
    if (operations < of) continue;
    of = operations;
    ns = 1e9 * median(p.at("seconds")) / (p.value("repetitions", 1) * operations);
  }
  std::string said;
  for (const auto& [mechanism, time] : times) {
    said += fmt::format("{}{} {:.1f}", said.empty() ? "" : ", ", mechanism, time.second);
  }
  return said;
}

verdict::part aggregation(points all, int most) {
  std::uint64_t aborts = 0;
  for (int t = 1; t <= most; ++t) aborts += aborted(all, "increment", "aggregator", t).aborts;
  return {"an aggregator's increments do not abort at all", aborts == 0 ? kind::holds : kind::fails,
          fmt::format("{} aborts; by stm {:.2f} % of the attempts on {} threads abort; ns of an "
                      "increment, on one thread: {}; by "
                      "each of {}: {}",
                      aborts, 100 * aborted(all, "increment", "stm", most).value(), most,
                      times_of_increments(all, 1), most, times_of_increments(all, most))};
}

}  // namespace

verdict check_model(points all) {
  auto htm = htm_model(all);
  if (const auto why = reason(all, "no_htm")) htm = without_htm(htm.claim, *why);
  return whole({htm, crossings(all)});
}

verdict check_single(points all) {
  const auto most = most_threads(all);
  if (most == 0) return {kind::undecided, "nothing was measured"};
  std::vector<verdict::part> parts;
  if (const auto why = reason(all, "no_htm")) {
    parts = {
        without_htm("marks by htm cost more and hardly abort, increments by htm "
                    "abort ever more with the threads",
                    *why)};
  } else {
    parts = {marks_by_htm(all, most), increments_by_htm(all, most)};
  }
  parts.push_back(aggregation(all, most));
  return whole(std::move(parts));
}

}  // namespace cairn::bench
