// SPDX-License-Identifier: Apache-2.0
#include "cli/costs.hpp"

#include <cairn/activity/start_values.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/hw/topology.hpp>

#include "cli/cost_files.hpp"
#include "cli/saved_costs.hpp"

namespace cairn::cli {
namespace {

constexpr auto no_costs_of_htm =
    ": expected costs of htm, which works here: run cairn bench model again";

bool lack_htm(const activity::fitted_costs& costs) {
  return hw::probe_transactions().works && !costs.of(activity::mechanism::htm);
}

}  // namespace

activity::start_values start_of(const common& c) {
  const auto path = costs_in_use(c);
  if (path.empty()) return {};
  const auto costs = read_fitted_costs(path);
  if (lack_htm(costs)) throw input_error(path + no_costs_of_htm);
  return activity::start_from(costs);
}

std::string saved_costs_file(const common& c) {
  const auto& folder = c.settings.cache_folder;
  if (folder.empty()) return "";
  return saved_costs_path(folder, hw::processor_model(), CAIRN_VERSION);
}

std::string costs_in_use(const common& c) {
  const auto& requested = c.settings.costs;
  if (requested == "none") return "";
  if (!requested.empty()) return requested;
  const auto path = saved_costs_file(c);
  const auto saved = read_saved_costs(path);
  return saved.costs && !lack_htm(*saved.costs) ? path : "";
}

void warn_of_saved_costs(const common& c) {
  if (!c.settings.costs.empty() || c.quiet || !is_first_process()) return;
  const auto path = saved_costs_file(c);
  const auto saved = read_saved_costs(path);
  auto fault = saved.fault;
  if (saved.costs && lack_htm(*saved.costs)) fault = path + no_costs_of_htm;
  if (!fault.empty()) say("the saved costs are not used: " + fault);
}

void read_costs_of_clock(common& c) {
  if (c.settings.sim.empty()) return;
  const auto file = clock_file_of(c.settings.sim);
  if (!file.empty()) c.settings.sim_costs = read_cluster_costs(file);
}

}  // namespace cairn::cli
