// SPDX-License-Identifier: Apache-2.0
#include "cli/trials.hpp"

#include <limits>

#include <fmt/format.h>

#include <cairn/activity/start_values.hpp>
#include <cairn/base/error.hpp>
#include <cairn/hw/tm_probe.hpp>

namespace cairn::cli {
namespace {

activity::start_values start_of(const common& c) {
  const auto& path = c.settings.costs;
  if (path.empty()) return {};
  const auto costs = activity::read_fitted_costs(path);
  if (hw::probe_transactions().works && !costs.of(activity::mechanism::htm)) {
    throw input_error(path +
                      ": expected costs of htm, which works here: cairn bench model writes " +
                      "them anew");
  }
  return activity::start_from(costs);
}

std::vector<double> seconds_of(report& r) { return r["seconds"]["run"].get<std::vector<double>>(); }

}  // namespace

void add_trials(CLI::App& command, trial_options& t, common& c, const std::string& checks,
                bool has_output) {
  add_input(command, t.in);
  command.add_option("--trials,-n", t.trials, "Runs")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command.add_flag("--verify,-v", t.verify, checks);
  if (has_output) {
    command.add_option("--output", t.output, "Write one row per vertex: .csv .tsv .npy, also .gz");
  }
  add_common(command, c);
}

activity::options activity_of(const common& c) {
  return {.how = activity::parse_mechanism(c.settings.mechanism),
          .grain = c.settings.grain,
          .sent_filter = c.settings.filter_entries != 0,
          .retry = tm::parse_retry(c.settings.retry),
          .start = start_of(c)};
}

void count_teps(report& r, const std::vector<std::uint64_t>& edges) {
  const auto seconds = seconds_of(r);
  std::vector<double> teps;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    teps.push_back(seconds[i] > 0 ? static_cast<double>(edges[i]) / seconds[i] : 0);
  }
  r["teps"] = median(teps);
}

void say_ranks(const world& w, report& r) {
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
}

void say_time(const trial_options& t, report& r) {
  r.line("time", fmt::format("{} (median of {})", human_seconds(median(seconds_of(r))), t.trials));
}

void say_teps(report& r) {
  r.line("TEPS", fmt::format("{:.4g} million", r["teps"].get<double>() / 1e6));
}

int conclude(world& w, const trial_options& t, report& r, const std::string& broken) {
  if (t.verify) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

int finish(world& w, const trial_options& t, report& r, const std::string& broken) {
  const json& last = r["result"]["trials"].back();
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  say_chosen(r);
  say_ranks(w, r);
  say_time(t, r);
  return conclude(w, t, r, broken);
}

}  // namespace cairn::cli
