// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

using claim_parts::clearly_above;
using claim_parts::median;

bool gains(const json& point) { return claim_parts::above_one(point.at("ratio")); }

std::optional<verdict> without_htm(points all) {
  const auto why = claim_parts::reason(all, "no_htm");
  if (!why) return std::nullopt;
  return verdict{kind::undecided, *why};
}

/// Points by T, each list in ascending order of `key`.
std::map<int, std::vector<json>> by_threads(points all, const char* key) {
  std::map<int, std::vector<json>> lists;
  for (const auto& p : all) lists[p.at("threads").get<int>()].push_back(p);
  for (auto& [threads, list] : lists) {
    std::sort(list.begin(), list.end(),
              [&](const json& a, const json& b) { return a.at(key) < b.at(key); });
  }
  return lists;
}

/// The claims of all T: the first that does not hold, else one that is undecided, else all.
template <class F>
verdict check_each(points all, const char* key, F&& claim) {
  if (auto none = without_htm(all)) return *none;
  verdict sum{kind::holds, ""};
  const auto lists = by_threads(all, key);
  if (lists.empty()) return {kind::undecided, "nothing was measured"};
  for (const auto& [threads, list] : lists) {
    auto one = claim(list);
    one.why = fmt::format("T = {}: {}", threads, one.why);
    if (one.is == kind::fails) return one;
    if (one.is == kind::undecided) sum.is = kind::undecided;
    sum.why += (sum.why.empty() ? "" : "; ") + one.why;
  }
  return sum;
}

verdict phases_of(const std::vector<json>& levels) {
  double whole = 0;
  for (const auto& p : levels) whole += median(p.at("atomics"));
  std::string heavy;
  for (std::size_t i = 1; i + 1 < levels.size(); ++i) {
    const auto& p = levels[i];
    if (median(p.at("atomics")) < whole / 10) continue;
    const auto said = fmt::format("level {} takes {:.2f} of atomics' time",
                                  p.at("level").get<int>(), 1 / median(p.at("ratio")));
    if (!gains(p)) return {kind::fails, said};
    heavy += (heavy.empty() ? "" : ", ") + said;
  }
  if (heavy.empty()) return {kind::undecided, "no middle level takes a tenth of the time"};
  return {kind::holds, heavy};
}

std::uint64_t aborts(const json& point) {
  std::uint64_t all = 0;
  for (const auto& [cause, number] : point.at("aborts").items()) {
    all += number.get<std::uint64_t>();
  }
  return all;
}

double share(const json& point, std::uint64_t number) {
  const auto attempts = point.at("attempts").get<double>();
  return attempts > 0 ? static_cast<double>(number) / attempts : 0;
}

/// The cause whose share of the attempts grew most from one point to another.
std::string grown_cause(const json& from, const json& to) {
  std::string most;
  double by = 0;
  for (const auto& [cause, number] : to.at("aborts").items()) {
    const auto growth = share(to, number.get<std::uint64_t>()) -
                        share(from, from.at("aborts").at(cause).get<std::uint64_t>());
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
  if (!gains(best)) {
    return {kind::fails, fmt::format("the best M, {}, takes {:.2f} of atomics' time", m,
                                     1 / median(best.at("ratio")))};
  }
  const auto before = share(best, aborts(best)), after = share(last, aborts(last));
  const auto shares = fmt::format("{:.1f} % of the attempts abort at M = {}, {:.1f} % at M = {}",
                                  100 * before, m, 100 * after, last.at("grain").get<int>());
  if (after <= before) return {kind::fails, "aborts do not explain the rise: " + shares};
  return {kind::holds, fmt::format("M = {} takes {:.2f} of atomics' time; {}, mostly by {}", m,
                                   1 / median(best.at("ratio")), shares, grown_cause(best, last))};
}

}  // namespace

verdict check_phases(points all) { return check_each(all, "level", phases_of); }

verdict check_grain(points all) { return check_each(all, "grain", grain_of); }

verdict check_distributed(points all) {
  std::map<std::pair<std::uint64_t, int>, json> at;  // by transactions and remote elements
  for (const auto& p : all) {
    const auto x = p.at("transactions").get<std::uint64_t>();
    if (p.at("commits") != p.at("expected")) {
      return {kind::fails,
              fmt::format("x = {}: {} of {} committed", x, p.at("commits").get<std::uint64_t>(),
                          p.at("expected").get<std::uint64_t>())};
    }
    at[{x, p.at("remote").get<int>()}] = p;
  }
  if (at.size() != 4) return {kind::undecided, "there are not four scenarios"};
  std::vector<json> four;
  for (const auto& [key, p] : at) four.push_back(p);
  std::string why;
  for (const std::size_t few : {0u, 2u}) {  // the same number with fewer remote, and with more
    const auto &less = four[few], &more = four[few + 1];
    why += fmt::format(
        "{}x = {}: {:.2f} ms with {} remote elements, {:.2f} ms with {}, {} and {} "
        "restarts",
        why.empty() ? "" : "; ", less.at("transactions").get<std::uint64_t>(),
        1e3 * median(less.at("seconds")), less.at("remote").get<int>(),
        1e3 * median(more.at("seconds")), more.at("remote").get<int>(),
        less.at("restarts").get<std::uint64_t>(), more.at("restarts").get<std::uint64_t>());
    if (!clearly_above(more.at("seconds"), less.at("seconds"))) return {kind::fails, why};
  }
  for (const std::size_t remote : {0u, 1u}) {
    if (!clearly_above(four[remote + 2].at("seconds"), four[remote].at("seconds"))) {
      return {kind::fails, why + "; ten times as many take no longer"};
    }
  }
  return {kind::holds, why};
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
