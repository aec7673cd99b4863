// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/figures/claim_parts.hpp>

namespace cairn::bench {
namespace {

using namespace claim_parts;

verdict remote_of(const std::string& work, const std::vector<json>& pair,
                  const std::vector<json>& many) {
  if (pair.empty() || pair.front().at("messages") != 1)
    return {kind::undecided, work + ": no message travelled alone"};
  const auto& alone = pair.front().at("ratio");
  if (median(alone) + mad(alone) >= 1) {
    return {kind::fails, fmt::format("{}: messages that travel alone take {:.2f} of the time of "
                                     "one-sided MPI",
                                     work, 1 / median(alone))};
  }
  const auto crossing = std::find_if(pair.begin(), pair.end(),
                                     [](const json& p) { return above_one(p.at("ratio")); });
  if (crossing == pair.end()) return {kind::fails, work + ": no C beats one-sided MPI"};
  const auto best = std::max_element(pair.begin(), pair.end(), [](const json& a, const json& b) {
    return median(a.at("ratio")) < median(b.at("ratio"));
  });
  auto said = fmt::format(
      "{}: alone {:.2f} times the speed of one-sided MPI, faster from C = {}, "
      "{:.1f} times at C = {}",
      work, median(alone), crossing->at("messages").get<int>(), median(best->at("ratio")),
      best->at("messages").get<int>());
  for (const auto& p : many) {
    const auto ratio = median(p.at("ratio"));
    const auto senders = p.at("ranks").get<int>() - 1;
    if (!above_one(p.at("ratio"))) {
      return {kind::fails, fmt::format("{}, but {:.2f} times with {} ranks sending to one", said,
                                       ratio, senders)};
    }
    const auto cores = p.value("cores", senders + 1);
    said += fmt::format(", {:.1f} with {} sending to one{}", ratio, senders,
                        cores <= senders ? fmt::format(" on {} cores", cores) : "");
  }
  return {kind::holds, said};
}

}  // namespace

verdict check_remote(points all) {
  if (const auto why = reason(all, "no_mpi")) return {kind::undecided, *why};
  verdict sum{kind::holds, ""};
  for (const auto* const work : {"mark", "increment"}) {
    std::vector<json> pair, many;
    for (const auto& p : all) {
      if (p.at("work") == work) (p.at("ranks") == 2 ? pair : many).push_back(p);
    }
    std::sort(pair.begin(), pair.end(),
              [](const json& a, const json& b) { return a.at("messages") < b.at("messages"); });
    const auto one = remote_of(work, pair, many);
    if (one.is == kind::fails || sum.is == kind::holds) sum.is = one.is;
    sum.why += (sum.why.empty() ? "" : "; ") + one.why;
  }
  return sum;
}

verdict check_pagerank(points all) {
  verdict sum{kind::holds, ""};
  const json* fastest = nullptr;
  bool any = false;
  for (const auto& p : all) {
    const auto speed_of = [](const json& q) {  // of all vertices; a split may have more ranks
      return q.at("vertices").get<double>() * q.at("ranks").get<double>() / median(q.at("seconds"));
    };
    if (fastest == nullptr || speed_of(p) > speed_of(*fastest)) fastest = &p;
    if (!p.contains("alone")) continue;
    any = true;
    const auto ratio = median(p.at("alone"));
    if (ratio < 3) sum.is = kind::fails;
    sum.why += fmt::format(
        "{}{} ranks x {} threads, {} vertices each: {:.1f} times the speed of "
        "messages that travel alone, {:.2f} times that of pulling",
        sum.why.empty() ? "" : "; ", p.at("ranks").get<int>(), p.at("threads").get<int>(),
        p.at("vertices").get<int>(), ratio, median(p.at("pull")));
  }
  if (!any) return {kind::undecided, "nothing was measured on several ranks"};
  sum.why += fmt::format("; most vertices a second with {} ranks x {} threads, {} vertices each",
                         fastest->at("ranks").get<int>(), fastest->at("threads").get<int>(),
                         fastest->at("vertices").get<int>());
  return sum;
}

}  // namespace cairn::bench
