// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 2: the time to modify N vertices in one activity, by mechanism, and the lines
// T = A N + B through it. The claim: htm costs more to begin (B) than atomics and less per vertex
// (A), and where the lines cross is where the times do. The same on a terminal:
// `cairn bench model`.

#include <optional>

#include <fmt/core.h>

#include <cairn/activity/cost_probe.hpp>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;

nlohmann::json number(const std::optional<double>& x) {
  return x ? nlohmann::json(*x) : nlohmann::json(nullptr);
}

void record_cost(const activity::mechanism_cost& c, const activity::mechanism_cost& atomics,
                 int rounds, const figure::record_function& record) {
  const auto name = activity::name(c.how);
  if (!c.fault.empty()) throw wrong_result(fmt::format("{}: {}", name, c.fault));
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    record(
        {{"mechanism", name},
         {"vertices", c.samples[i].vertices},
         {"seconds",
          {{"median", 1e-9 * c.samples[i].ns}, {"mad", 1e-9 * c.spread_ns[i]}, {"runs", rounds}}}});
  }
  nlohmann::json line{{"mechanism", name},
                      {"fit",
                       {{"per_vertex_ns", c.model.per_vertex},
                        {"fixed_ns", c.model.fixed},
                        {"r_squared", c.model.r_squared}}}};
  if (c.how != mechanism::atomics) {
    line["predicted"] = number(activity::predicted_crossing(atomics.model, c.model));
    line["measured"] = number(activity::measured_crossing(atomics.samples, c.samples));
  }
  fmt::print(stderr, "{:<10} {:>8.2f} {:>8.1f} {:>8.4f}\n", name, c.model.per_vertex, c.model.fixed,
             c.model.r_squared);
  record(std::move(line));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  using namespace cairn::bench;
  activity::cost_probe_options options;
  figure f;
  f.name = "aam15_2_model";
  f.description = "[AAM15] figure 2: activities that modify N vertices, by mechanism.";
  f.add_options = [&](CLI::App& app) {
    app.add_option("--passes", options.rounds, "of which a time is the median")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    app.add_option("--vertices", options.vertices, "to choose from")
        ->check(CLI::Range(std::size_t{64}, std::size_t{1} << 31))
        ->capture_default_str();
    app.add_option("--sizes", options.sizes, "N, ascending")->capture_default_str();
  };
  f.sweep = [&](harness&, const figure::record_function& record) {
    world w;
    const auto costs = activity::probe_costs(w, options);
    const auto& atomics = *activity::cost_of(costs, mechanism::atomics);
    fmt::print(stderr, "{:<10} {:>8} {:>8} {:>8}\n", "mechanism", "A ns", "B ns", "R^2");
    for (const auto& c : costs) record_cost(c, atomics, options.rounds, record);
    if (!w.transactions().works) record({{"no_htm", w.transactions().reason}});
  };
  f.check = check_model;
  return run_figure(argc, argv, f);
}
