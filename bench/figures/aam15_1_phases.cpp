// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 1: breadth-first search by level, atomics against coarse hardware transactions.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <bench/figures/figure.hpp>
#include <bench/figures/grain_option.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;

/// Seconds of one level per run: the median over the run's searches, the last ones in the log.
std::vector<double> of_level(const search_log& log, std::size_t level, const measurement& m) {
  const auto runs = m.seconds.size();
  auto search = log.traces.end() - static_cast<std::ptrdiff_t>(runs * m.iterations);
  std::vector<double> by_run;
  for (std::size_t run = 0; run < runs; ++run) {
    std::vector<double> seconds;
    for (std::uint64_t i = 0; i < m.iterations; ++i)
      seconds.push_back((search++)->at(level).seconds);
    by_run.push_back(summarise(seconds).median);
  }
  return by_run;
}

nlohmann::json point_of(int threads, std::size_t level, const search_log& atomics,
                        const measurement& m) {
  return {{"threads", threads},
          {"level", level},
          {"frontier", atomics.traces.back()[level].frontier},
          {"atomics", json_of(summarise(of_level(atomics, level, m)))}};
}

void sweep(harness& h, const search_options& options, std::size_t grain, int threads,
           const figure::record_function& record) {
  search_stage stage(options, threads);
  search_log log;
  auto atomics = stage.search({.mechanism = mechanism::atomics}, log);
  const auto& probe = stage.on().transactions();
  if (!probe.works) {
    const auto m = h.measure(atomics);
    for (std::size_t i = 0; i < log.traces.back().size(); ++i) {
      record(point_of(threads, i, log, m));
    }
    record({{"threads", threads}, {"no_htm", probe.reason}});
    return;
  }
  search_log htm_log;
  auto htm = stage.search({.mechanism = mechanism::htm, .grain = grain}, htm_log);
  const auto c = h.compare(atomics, htm);
  for (std::size_t i = 0; i < log.traces.back().size(); ++i) {
    const auto slow = of_level(log, i, c.first), fast = of_level(htm_log, i, c.second);
    std::vector<double> ratios;
    for (std::size_t k = 0; k < slow.size(); ++k) ratios.push_back(slow[k] / fast[k]);
    auto point = point_of(threads, i, log, c.first);
    point["grain"] = grain;
    point["htm"] = json_of(summarise(fast));
    point["ratio"] = json_of(summarise(ratios));
    record(std::move(point));
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  search_options options;
  std::size_t grain = 64;
  figure f;
  f.name = "aam15_1_phases";
  f.description = "[AAM15] figure 1: the levels of a search by atomics and by transactions.";
  f.add_options = [&](argument_list& arguments) {
    options.add_to(arguments);
    add_grain(arguments, grain);
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    for (const int threads : options.threads) sweep(h, options, grain, threads, record);
  };
  return run_figure(argc, argv, f);
}
