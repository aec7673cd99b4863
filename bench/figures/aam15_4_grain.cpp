// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figure 4: breadth-first search against M, the operators per hardware transaction, by each
// retry policy of the paper's machines: `rtm`, `hle` and `bgq`. Also transactions of N adjacent
// vertices and of N vertices a page apart: their limit may be associativity, not size.
//
// On a machine without hardware transactions, atomics are timed, and emulated transactions with
// injected aborts show the counters; their time is meaningless and not recorded.

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cairn/hw/pages.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/hardware_section.hpp>
#include <cairn/tm/retry_policy.hpp>
#include <cairn/tm/section.hpp>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;
using obs::counter;

// rtm first: the baseline of the others
constexpr std::array policies{tm::retry_rtm, tm::retry_hle, tm::retry_bgq};

nlohmann::json point_of(const search_log& log, int threads, std::size_t grain,
                        const tm::retry_limits& retry) {
  auto point = counts_of(log);
  point.update({{"threads", threads}, {"grain", grain}, {"retry", tm::name(retry)}});
  return point;
}

void sweep_htm(harness& h, search_stage& stage, int threads, const std::vector<std::size_t>& grains,
               const figure::record_function& record) {
  for (const auto m : grains) {
    for (const auto& retry : policies) {
      const bool is_rtm = retry == tm::retry_rtm;
      search_log other_log, log;
      auto other = is_rtm ? stage.search({.mechanism = mechanism::atomics}, other_log)
                          : stage.search({.mechanism = mechanism::htm, .grain = m}, other_log);
      auto htm = stage.search({.mechanism = mechanism::htm, .grain = m, .retry = retry}, log);
      const auto c = h.compare(other, htm);
      auto point = point_of(log, threads, m, retry);
      if (is_rtm) point["atomics"] = json_of(c.first.time);
      point["seconds"] = json_of(c.second.time);
      point[is_rtm ? "ratio" : "rtm_ratio"] = json_of(c.ratio);
      record(std::move(point));
    }
  }
}

void show_emulated(harness& h, search_stage& stage, int threads,
                   const std::vector<std::size_t>& grains, const std::string& why,
                   const figure::record_function& record) {
  search_log atomics_log;
  auto atomics = stage.search({.mechanism = mechanism::atomics}, atomics_log);
  record({{"threads", threads}, {"no_htm", why}, {"atomics", json_of(h.measure(atomics).time)}});
  for (const auto m : grains) {
    for (const auto& retry : policies) {
      search_log log;
      auto emulated = stage.search({.mechanism = mechanism::htm,
                                    .grain = m,
                                    .emulate = activity::emulation_options{},
                                    .retry = retry},
                                   log);
      emulated.prepare();
      emulated.run();
      const auto fault = emulated.verify();
      if (!fault.empty()) throw wrong_result("emulated transactions: " + fault);
      auto point = point_of(log, threads, m, retry);
      point["emulated"] = true;
      record(std::move(point));
    }
  }
}

/// Consecutive transactions write the same N cache lines, on one thread.
nlohmann::json counts_of_layout(std::size_t vertices, std::size_t stride) {
  constexpr int transactions = 1000;
  const auto no_relax = [](unsigned) {};
  hw::page_buffer<std::uint64_t> words(vertices * stride);
  words.prefault();
  obs::counters counted{1};
  tm::section_runner runner(tm::rtm_hardware{}, tm::retry_limits{}, 1, counted, main_worker,
                            no_relax);
  for (int i = 0; i < transactions; ++i) {
    const auto body = [&](auto access) {
      for (std::size_t v = 0; v < vertices; ++v) tm::cell_ref(words[v * stride], access).add(1);
    };
    static_cast<void>(runner.run(tm::unsubscribed{}, 1, body, [] {}));
  }
  return {{"vertices", vertices},
          {"attempts", counted.total(counter::attempts)},
          {"aborts", aborts_of(counted.totals())}};
}

void sweep_layouts(const std::vector<std::size_t>& sizes, const figure::record_function& record) {
  constexpr std::size_t line = cache_line / sizeof(std::uint64_t);
  constexpr std::size_t page = 4096 / sizeof(std::uint64_t);
  for (const auto& [layout, stride] : {std::pair("contiguous", line), std::pair("strided", page)}) {
    for (const auto n : sizes) {
      auto point = counts_of_layout(n, stride);
      point["layout"] = layout;
      record(std::move(point));
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  search_options options;
  std::vector<std::size_t> grains{1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 320};
  std::vector<std::size_t> sizes{1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256, 512, 1024};
  figure f;
  f.name = "aam15_4_grain";
  f.description = "[AAM15] figure 4: a search against M, the operators per transaction.";
  f.add_options = [&](argument_list& arguments) {
    options.add_to(arguments);
    arguments.number("--grains", grains, {std::size_t{1}, cairn::max_grain}, "M, one or more");
    arguments.number("--sizes", sizes, {1, 1 << 16},
                     "N, vertices side by side and a page apart, one or more");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    if (cairn::hw::probe_transactions().works) sweep_layouts(sizes, record);
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
  return run_figure(argc, argv, f);
}
