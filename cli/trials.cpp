// SPDX-License-Identifier: Apache-2.0
#include "cli/trials.hpp"

#include <limits>

#include <fmt/format.h>

#include <cairn/activity/saved_costs.hpp>
#include <cairn/activity/start_values.hpp>
#include <cairn/base/error.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/hw/topology.hpp>

namespace cairn::cli {
namespace {

constexpr auto no_costs_of_htm =
    ": expected costs of htm, which works here: cairn bench model writes them anew";

bool lack_htm(const activity::fitted_costs& costs) {
  return hw::probe_transactions().works && !costs.of(activity::mechanism::htm);
}

activity::start_values start_of(const common& c) {
  const auto path = costs_in_use(c);
  if (path.empty()) return {};
  const auto costs = activity::read_fitted_costs(path);
  if (lack_htm(costs)) throw input_error(path + no_costs_of_htm);
  return activity::start_from(costs);
}

std::vector<double> seconds_of(report& r) { return r["seconds"]["run"].get<std::vector<double>>(); }

}  // namespace

std::string saved_costs_file(const common& c) {
  const auto& folder = c.settings.cache_folder;
  if (folder.empty()) return "";
  return activity::saved_costs_path(folder, hw::processor_model(), CAIRN_VERSION);
}

std::string costs_in_use(const common& c) {
  const auto& asked = c.settings.costs;
  if (asked == "none") return "";
  if (!asked.empty()) return asked;
  const auto path = saved_costs_file(c);
  const auto saved = activity::read_saved_costs(path);
  return saved.costs && !lack_htm(*saved.costs) ? path : "";
}

void warn_of_saved_costs(const common& c) {
  if (!c.settings.costs.empty()) return;
  const auto path = saved_costs_file(c);
  const auto saved = activity::read_saved_costs(path);
  auto fault = saved.fault;
  if (saved.costs && lack_htm(*saved.costs)) fault = path + no_costs_of_htm;
  if (!fault.empty()) say("the saved costs are not used: " + fault);
}

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
