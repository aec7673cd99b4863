// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figures 10 and 11: concurrent hash map access over ranks, tasks and steps, by
// `cairn hashmap` and by bench/baselines/hash_map_mpi.c: as in the paper, where each string is a
// message and a process waits for its answer, and with many tasks in progress whose strings travel
// together. All make the same accesses; the checksums of the entries are compared.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>
#include <bench/figures/source_lines.hpp>

namespace cairn::bench {
namespace {

struct hash_map_sweep {
  std::vector<int> ranks{1, 2};
  std::vector<std::uint64_t> tasks{64, 1024, 16'384}, steps{64};
  std::uint64_t strings = 1'000'000, entries = 100'000;
};

void measure(harness& h, const hash_map_sweep& s, int ranks, std::uint64_t tasks,
             std::uint64_t steps, const figure::record_function& record) {
  const auto workload = fmt::format("--tasks {} --steps {} --strings {} --entries {}", tasks, steps,
                                    s.strings, s.entries);
  const auto cairn = fmt::format("'{}/../bin/cairn' hashmap {} --ranks {} --threads 1 --json",
                                 program_folder(), workload, ranks);
  const auto once = json_lines_of(cairn + " --verify").at(0);
  const auto checksum = once["result"]["trials"][0]["checksum"].get<std::uint64_t>();
  const nlohmann::json settings{{"ranks", ranks}, {"tasks", tasks}, {"steps", steps}};
  std::vector<subject> subjects;
  subjects.push_back(process("by tasks", settings, cairn + " --trials 3 --verify"));
  if (const auto mpi = mpi_commands("hash_map", ranks); !mpi.empty()) {
    const auto by_hand = fmt::format("{} {} --runs 3 --expect {}", mpi.front(), workload, checksum);
    subjects.push_back(
        process("one string at a time", settings, by_hand + " --at-once 1 --block 1"));
    subjects.push_back(process("strings together", settings, by_hand));
  }
  std::vector<subject*> turns;
  for (auto& each : subjects) turns.push_back(&each);
  const auto times = h.measure_alternating(turns);
  auto point = settings;
  point["accesses"] = tasks * steps;
  std::size_t i = 0;
  for (const std::string name : {"seconds", "alone_seconds", "together_seconds"}) {
    if (i < times.size()) point[name] = json_of(times[i++].time);
  }
  record(std::move(point));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  hash_map_sweep s;
  figure f;
  f.name = "gmt14_10_hash_map";
  f.description = "[GMT14] figures 10 and 11: concurrent hash map access.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--local", s.ranks, {1, 64}, "numbers of local ranks");
    arguments.number("--tasks", s.tasks, {1, std::uint64_t{1} << 30}, "of all ranks, one or more");
    arguments.number("--steps", s.steps, {1, std::uint64_t{1} << 30}, "of a task, one or more");
    arguments.number("--strings", s.strings, {1, std::uint64_t{1} << 40}, "in the pool");
    arguments.number("--entries", s.entries, {1, std::uint64_t{1} << 40}, "at the beginning");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    record({{"task_lines", source_lines({"src/algo/hash_map_access.cpp", "src/algo/reversed.hpp",
                                         "include/cairn/algo/string_pool.hpp"})},
            {"mpi_lines", source_lines({"bench/baselines/hash_map_mpi.c"})}});
    for (const int ranks : s.ranks) {
      for (const auto tasks : s.tasks) {
        for (const auto steps : s.steps) measure(h, s, ranks, tasks, steps, record);
      }
    }
  };
  return run_figure(argc, argv, f);
}
