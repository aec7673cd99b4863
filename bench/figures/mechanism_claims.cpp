// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;
using claim_parts::clearly_above;

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

std::string crossings(points all) {
  std::string said;
  for (const auto& p : all) {
    if (!p.contains("predicted")) continue;
    said += fmt::format("; {} beats atomics from {} (predicted), {} (measured)",
                        p.at("mechanism").get<std::string>(), where(p.at("predicted")),
                        where(p.at("measured")));
  }
  return said;
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

}  // namespace

verdict check_model(points all) {
  if (const auto why = claim_parts::reason(all, "no_htm"))
    return {kind::undecided, "no hardware transactions: " + *why + crossings(all)};
  const auto *const htm = fitted(all, "htm"), *const atomics = fitted(all, "atomics");
  if (htm == nullptr || atomics == nullptr) return {kind::undecided, "nothing was measured"};
  const auto numbers = fmt::format(
      "B(htm) = {:.1f} ns, B(atomics) = {:.1f} ns, A(htm) = {:.2f} ns, A(atomics) = {:.2f} ns",
      fit(*htm, "fixed_ns"), fit(*atomics, "fixed_ns"), fit(*htm, "per_vertex_ns"),
      fit(*atomics, "per_vertex_ns"));
  if (fit(*htm, "fixed_ns") <= fit(*atomics, "fixed_ns") ||
      fit(*htm, "per_vertex_ns") >= fit(*atomics, "per_vertex_ns")) {
    return {kind::fails, numbers};
  }
  const auto &predicted = htm->at("predicted"), &measured = htm->at("measured");
  const auto meet = fmt::format("{}; htm beats atomics from {} (predicted), {} (measured)", numbers,
                                where(predicted), where(measured));
  if (predicted.is_null() || measured.is_null()) return {kind::fails, meet};
  const auto off = predicted.get<double>() / measured.get<double>();
  return {off <= 2 && off >= 0.5 ? kind::holds : kind::fails, meet};
}

verdict check_single(points all) {
  const auto most = most_threads(all);
  if (most == 0) return {kind::undecided, "nothing was measured"};
  share_of aggregator;
  for (int t = 1; t <= most; ++t) {
    aggregator.aborts += aborted(all, "increment", "aggregator", t).aborts;
  }
  if (aggregator.aborts > 0) {
    return {kind::fails, fmt::format("{} aborts by an aggregator", aggregator.aborts)};
  }
  const auto say = [&](const char* mechanism) {
    return fmt::format(
        "by {} {:.1f} % of the attempts to increment abort on one thread, "
        "{:.1f} % on {}",
        mechanism, 100 * aborted(all, "increment", mechanism, 1).value(),
        100 * aborted(all, "increment", mechanism, most).value(), most);
  };
  if (const auto why = claim_parts::reason(all, "no_htm")) {
    return {kind::undecided,
            "no hardware transactions: " + *why + "; an aggregator never aborts; " + say("stm")};
  }
  if (const auto cheap = cheap_marks(all); !cheap.empty()) return {kind::fails, cheap};
  const auto marks = aborted(all, "mark", "htm", most).value();
  if (marks > 0.05) {
    return {kind::fails, fmt::format("{:.1f} % of the attempts to mark abort", 100 * marks)};
  }
  const auto few = aborted(all, "increment", "htm", 1).value();
  const auto many = aborted(all, "increment", "htm", most).value();
  if (most > 1 && (many < 0.1 || many <= few)) return {kind::fails, say("htm")};
  if (most == 1) return {kind::undecided, "one thread: nothing to conflict with"};
  return {kind::holds, say("htm") + "; an aggregator never aborts"};
}

}  // namespace cairn::bench
