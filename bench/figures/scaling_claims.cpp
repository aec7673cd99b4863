// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using namespace claim_parts;

constexpr double buffers_within = 0.1;
// Two settings are told apart if their times are, by so much and by twice the spread.
constexpr double told_apart = 1.1;

bool faster(const json& a, const json& b) {
  return told_apart * median(a) < median(b) && median(a) + 2 * mad(a) < median(b) - 2 * mad(b);
}

struct ranking {
  int pairs = 0;
  std::string wrong;  // the first pair
};

ranking compare(const std::vector<json>& settings) {
  ranking r;
  for (const auto& a : settings) {
    for (const auto& b : settings) {
      if (a.at("job") != b.at("job") || !faster(a.at("measured"), b.at("measured"))) continue;
      ++r.pairs;
      if (a.at("predicted").get<double>() < b.at("predicted").get<double>()) continue;
      if (!r.wrong.empty()) r.wrong += "; ";
      r.wrong +=
          fmt::format("{}: {} beats {}", a.at("job").get<std::string>(),
                      a.at("setting").get<std::string>(), b.at("setting").get<std::string>());
    }
  }
  return r;
}

}  // namespace

verdict check_scaling(points all) {
  std::vector<json> counted, settings;
  for (const auto& p : all) {
    if (p.contains("real_ranks")) counted.push_back(p);
    if (p.contains("setting")) settings.push_back(p);
  }
  const auto ranked = compare(settings);
  if (counted.empty() || ranked.pairs == 0) {
    return {kind::undecided, "nothing that runs here was compared, or no two settings differ"};
  }
  double worst = 0;
  std::string faults;
  const auto add = [&](const std::string& fault) {
    faults += (faults.empty() ? "" : "; ") + fault;
  };
  for (const auto& p : counted) {
    const auto where = fmt::format("{} on {} ranks", p.at("job").get<std::string>(),
                                   p.at("real_ranks").get<int>());
    if (p.at("messages") != p.at("simulated_messages")) add(where + ": other messages");
    const auto real = p.at("buffers").get<double>();
    const auto off = std::abs(p.at("simulated_buffers").get<double>() / real - 1);
    worst = std::max(worst, off);
    if (off > buffers_within) add(fmt::format("{}: buffers {:.0f} % off", where, 100 * off));
  }
  if (!ranked.wrong.empty()) add("not predicted: " + ranked.wrong);
  const auto said = fmt::format(
      "{} runs counted, buffers at most {:.1f} % off, {} pairs of "
      "settings told apart",
      counted.size(), 100 * worst, ranked.pairs);
  if (!faults.empty()) return {kind::fails, said + ": " + faults};
  return {kind::holds, said + ", all ranked as measured"};
}

}  // namespace cairn::bench
