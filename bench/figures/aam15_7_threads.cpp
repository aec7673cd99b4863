// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figures 7a and b: breadth-first search on a Kronecker graph over the number of threads,
// by each mechanism and by bench/baselines/bfs_threads.hpp.

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
  std::vector<mechanism> mechanisms{mechanism::atomics, mechanism::locks, mechanism::one_lock};
  if (stage.on().transactions().works) mechanisms.push_back(mechanism::htm);
  const auto put = [&](const std::string& name, subject by) {
    record({{"mechanism", name}, {"threads", threads}, {"seconds", json_of(h.measure(by).time)}});
  };
  for (const auto m : mechanisms) {
    put(std::string(activity::name(m)), stage.search({.mechanism = m, .grain = grain}, log));
  }
  put("by hand", stage.by_hand());
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  search_options options;
  options.threads = all_thread_counts();
  std::size_t grain = cairn::activity::start_values{}.htm_grain;
  figure f;
  f.name = "aam15_7_threads";
  f.description = "[AAM15] figures 7a and b: a search over the number of threads.";
  f.add_options = [&](argument_list& arguments) {
    options.add_to(arguments);
    add_grain(arguments, grain);
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    for (const int threads : options.threads) measure(h, options, grain, threads, record);
    const auto probe = cairn::hw::probe_transactions();
    if (!probe.works) record({{"no_htm", probe.reason}});
  };
  return run_figure(argc, argv, f);
}
