// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using namespace claim_parts;

verdict phases_of(const std::vector<json>& levels) {
  double whole = 0;
  for (const auto& p : levels) whole += median(p.at("atomics"));
  std::string heavy;
  for (std::size_t i = 1; i + 1 < levels.size(); ++i) {
    const auto& p = levels[i];
    if (median(p.at("atomics")) < whole / 10) continue;
    const auto said = fmt::format("level {} takes {:.2f} of atomics' time",
                                  p.at("level").get<int>(), 1 / median(p.at("ratio")));
    if (!above_one(p.at("ratio"))) return {kind::fails, said};
    heavy += (heavy.empty() ? "" : ", ") + said;
  }
  if (heavy.empty()) return {kind::undecided, "no middle level takes a tenth of the time"};
  return {kind::holds, heavy};
}

/// Which level is the heaviest by atomics.
verdict heaviest_of(const std::vector<json>& levels) {
  double whole = 0;
  const json* most = &levels.front();
  for (const auto& p : levels) {
    whole += median(p.at("atomics"));
    if (median(p.at("atomics")) > median(most->at("atomics"))) most = &p;
  }
  return {kind::undecided,
          fmt::format("by atomics level {} takes {:.0f} % of the time",
                      most->at("level").get<int>(), 100 * median(most->at("atomics")) / whole)};
}

}  // namespace

verdict check_phases(points all) {
  if (const auto why = reason(all, "no_htm")) {
    const auto beside = of_each_threads(all, "level", heaviest_of);
    return {kind::undecided, "no hardware transactions: " + *why + "; " + beside.why};
  }
  return of_each_threads(all, "level", phases_of);
}

nlohmann::json json_of(const verdict& v) {
  json line{{"verdict", v.text()}, {"why", v.why}};
  for (const auto& p : v.parts) {
    line["parts"].push_back({{"claim", p.claim}, {"verdict", verdict::name(p.is)}, {"why", p.why}});
  }
  return line;
}

std::vector<json> last_sweep(std::istream& lines, const std::string& figure) {
  std::vector<json> last, current;
  bool any = false;
  for (std::string text; std::getline(lines, text);) {
    auto line = json::parse(text);
    if (line.value("figure", "") != figure) continue;
    if (line.contains("verdict")) {
      last = std::exchange(current, {});
      any = true;
    } else {
      current.push_back(std::move(line));
    }
  }
  if (!any) throw std::runtime_error("no line has a verdict of " + figure);
  return last;
}

}  // namespace cairn::bench
