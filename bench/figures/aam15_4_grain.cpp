// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 4: breadth-first search against M, the operators per hardware transaction. The
// claim: the time falls to a best M and then rises, the best M beats atomics, and the aborts by
// cause explain the rise.
//
// Where the machine has no hardware transactions, atomics are timed, and emulated transactions
// with injected aborts show what is counted; their time says nothing and is not taken.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;
using obs::counter;

nlohmann::json counts_of(int threads, std::size_t grain, const search_log& log) {
  return {{"threads", threads},
          {"grain", grain},
          {"searches", log.searches},
          {"attempts", log.count(counter::attempts)},
          {"aborts",
           {{"conflict", log.count(counter::aborts_conflict)},
            {"capacity", log.count(counter::aborts_capacity)},
            {"explicit", log.count(counter::aborts_explicit)},
            {"other", log.count(counter::aborts_other)}}},
          {"splits", log.count(counter::splits)},
          {"fallbacks", log.count(counter::fallbacks)}};
}

void print(int threads, const std::string& what, double ms, const std::string& ratio,
           const search_log& log) {
  const auto of_attempts = [&](counter c) {
    const auto attempts = log.count(counter::attempts);
    return attempts == 0
               ? 0.0
               : 100.0 * static_cast<double>(log.count(c)) / static_cast<double>(attempts);
  };
  fmt::print(stderr, "{:>7} {:>14} {:>10} {:>14} {:>9.2f} {:>9.2f} {:>9.2f}\n", threads, what,
             ms > 0 ? fmt::format("{:.3f}", ms) : "", ratio, of_attempts(counter::aborts_conflict),
             of_attempts(counter::aborts_capacity), of_attempts(counter::aborts_other));
}

void sweep_htm(harness& h, search_stage& stage, int threads, const std::vector<std::size_t>& grains,
               const figure::record_function& record) {
  for (const auto m : grains) {
    search_log atomics_log, log;
    auto atomics = stage.search({.how = mechanism::atomics}, atomics_log);
    auto htm = stage.search({.how = mechanism::htm, .grain = m}, log);
    const auto c = h.compare(atomics, htm);
    auto point = counts_of(threads, m, log);
    point["atomics"] = json_of(c.first.time);
    point["seconds"] = json_of(c.second.time);
    point["ratio"] = json_of(c.ratio);
    print(threads, fmt::format("htm {}", m), 1e3 * c.second.time.median,
          fmt::format("{:.3f} +- {:.3f}", c.ratio.median, c.ratio.mad), log);
    record(std::move(point));
  }
}

void show_emulated(harness& h, search_stage& stage, int threads,
                   const std::vector<std::size_t>& grains, const std::string& why,
                   const figure::record_function& record) {
  search_log atomics_log;
  auto atomics = stage.search({.how = mechanism::atomics}, atomics_log);
  const auto time = h.measure(atomics).time;
  print(threads, "atomics", 1e3 * time.median, "", atomics_log);
  record({{"threads", threads}, {"no_htm", why}, {"atomics", json_of(time)}});
  for (const auto m : grains) {
    search_log log;
    auto emulated = stage.search(
        {.how = mechanism::htm, .grain = m, .emulate = activity::emulation_options{}}, log);
    emulated.prepare();
    emulated.run();
    const auto fault = emulated.verify();
    if (!fault.empty()) throw wrong_result("emulated transactions: " + fault);
    auto point = counts_of(threads, m, log);
    point["emulated"] = true;
    print(threads, fmt::format("emulated {}", m), 0, "", log);
    record(std::move(point));
  }
  fmt::print(stderr, "no hardware transactions: {}\n", why);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  search_options options;
  std::vector<std::size_t> grains{1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 320};
  figure f;
  f.name = "aam15_4_grain";
  f.description = "[AAM15] figure 4: a search against M, the operators per transaction.";
  f.add_options = [&](CLI::App& app) {
    options.add_to(app);
    app.add_option("--grains", grains, "M, one or more")
        ->check(CLI::Range(std::size_t{1}, cairn::activity::max_grain))
        ->capture_default_str();
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    fmt::print(stderr, "{:>7} {:>14} {:>10} {:>14} {:>9} {:>9} {:>9}  aborts, % of attempts\n",
               "threads", "mechanism, M", "ms", "ratio", "conflict", "capacity", "other");
    for (const int threads : options.threads) {
      search_stage stage(options, threads);
      const auto& probe = stage.on().transactions();
      if (probe.works) {
        sweep_htm(h, stage, threads, grains, record);
      } else {
        show_emulated(h, stage, threads, grains, probe.reason, record);
      }
    }
  };
  f.check = check_grain;
  return run_figure(argc, argv, f);
}
