// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figures 5a and b: causes of aborts of hardware transactions of M = 2 operators, against
// the number of threads. Needs hardware transactions: injected aborts would only show the
// injection.

#include <string>
#include <vector>

#include <bench/figures/figure.hpp>
#include <bench/figures/grain_option.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;

void measure(harness& h, const search_options& options, std::size_t grain, int threads,
             const figure::record_function& record) {
  search_stage stage(options, threads);
  search_log log;
  auto htm = stage.search({.mechanism = mechanism::htm, .grain = grain}, log);
  const auto time = h.measure(htm).time;
  auto point = counts_of(log);
  point.update({{"threads", threads}, {"grain", grain}, {"seconds", json_of(time)}});
  record(std::move(point));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  search_options options;
  options.threads = all_thread_counts();
  std::size_t grain = 2;
  figure f;
  f.name = "aam15_5_aborts";
  f.description = "[AAM15] figures 5a and b: causes of aborts against the number of threads.";
  f.add_options = [&](argument_list& arguments) {
    options.add_to(arguments);
    add_grain(arguments, grain);
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    if (const auto probe = cairn::hw::probe_transactions(); !probe.works)
      return record({{"no_htm", probe.reason}});
    for (const int threads : options.threads) measure(h, options, grain, threads, record);
  };
  return run_figure(argc, argv, f);
}
