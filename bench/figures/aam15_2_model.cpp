// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 2: the time to modify N vertices in one activity, by mechanism. `cairn bench
// model` also prints the fitted lines.

#include <cstddef>

#include <fmt/core.h>

#include <cairn/activity/cost_probe.hpp>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

void record_times(const activity::mechanism_cost& c, int rounds,
                  const figure::record_function& record) {
  const auto name = activity::name(c.mechanism);
  if (!c.fault.empty()) throw wrong_result(fmt::format("{}: {}", name, c.fault));
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    record(
        {{"mechanism", name},
         {"vertices", c.samples[i].vertices},
         {"seconds",
          {{"median", 1e-9 * c.samples[i].ns}, {"mad", 1e-9 * c.spread_ns[i]}, {"runs", rounds}}}});
  }
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
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--passes", options.rounds, {1, 1 << 20}, "of which a time is the median");
    arguments.number("--vertices", options.vertices, {std::size_t{64}, std::size_t{1} << 31},
                     "to choose from");
    arguments.number("--sizes", options.sizes, {}, "N, ascending");
  };
  f.sweep = [&](harness&, const figure::record_function& record) {
    world w;
    for (const auto& c : activity::probe_costs(w, options)) {
      record_times(c, options.rounds, record);
    }
    if (!w.transactions().works) record({{"no_htm", w.transactions().reason}});
  };
  return run_figure(argc, argv, f);
}
