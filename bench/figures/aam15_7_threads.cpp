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
  std::vector<std::string> names;
  std::vector<subject> subjects;
  std::vector<subject*> turns;
  for (const auto m : mechanisms) {
    names.emplace_back(activity::name(m));
    subjects.push_back(stage.search({.mechanism = m, .grain = grain}, log));
  }
  names.emplace_back("by hand");
  subjects.push_back(stage.by_hand());
  for (auto& x : subjects) turns.push_back(&x);
  const auto measured = h.measure_alternating(turns);
  for (std::size_t i = 0; i < names.size(); ++i) {
    record({{"mechanism", names[i]}, {"threads", threads}, {"seconds", json_of(measured[i].time)}});
  }
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
