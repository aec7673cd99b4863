// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] figures 10 and 11: concurrent hash map access over ranks, tasks and steps, by
// `cairn hashmap` and by bench/baselines/hash_map_mpi.c: as in the paper, where each string is a
// message and a process waits for its answer, and with many tasks in progress whose strings travel
// together. All make the same accesses; the checksums of the entries are compared. `cairn hashmap`
// also runs on a simulated cluster, whose clock charges messages and buffers, not lookups.
//
// If the memory that is available is too small for the map, a tenth of its entries and strings is
// tried, and so on; a point gives the reason.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/algo/hash_map_access.hpp>
#include <cairn/base/format.hpp>
#include <cairn/hw/memory.hpp>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>
#include <bench/figures/source_lines.hpp>

namespace cairn::bench {
namespace {

struct hash_map_sweep {
  std::vector<int> ranks{1, 2};
  std::vector<int> simulated{2, 8, 32};
  std::vector<std::uint64_t> tasks{64, 1024, 16'384}, steps{64};
  std::uint64_t strings = 1'000'000, entries = 100'000;
};

// An upper bound for each program: `cairn hashmap --verify` with twice the entries, of which one
// rank has the serial copy. The table of the baseline, while it grows, is smaller.
std::uint64_t bytes_of(const hash_map_sweep& s) {
  std::uint64_t most = 0;
  for (const auto* const numbers : {&s.ranks, &s.simulated}) {
    for (const cairn::rank_t ranks : *numbers) {
      most = std::max(
          most, static_cast<std::uint64_t>(ranks) * algo::string_map::bytes(2 * s.entries, ranks));
    }
  }
  return most + 2 * 64 * s.entries;
}

void shrink_to_memory(hash_map_sweep& s, const figure::record_function& record) {
  const auto available = hw::available_memory();
  const auto needed = bytes_of(s), entries = s.entries;
  while (bytes_of(s) > available / 2 && s.entries >= 10) {
    s.entries /= 10;
    s.strings = std::max(s.entries, s.strings / 10);
  }
  if (s.entries == entries) return;
  record(
      {{"shrunk", fmt::format("{} entries instead of {}, which need {} of {}, of which half may "
                              "be used",
                              s.entries, entries, format_bytes(needed), format_bytes(available))}});
}

std::string workload_of(const hash_map_sweep& s, std::uint64_t tasks, std::uint64_t steps) {
  return fmt::format("--tasks {} --steps {} --strings {} --entries {}", tasks, steps, s.strings,
                     s.entries);
}

nlohmann::json settings_of(const hash_map_sweep& s, const char* where, int ranks,
                           std::uint64_t tasks, std::uint64_t steps) {
  return {{"where", where}, {"ranks", ranks},       {"tasks", tasks},
          {"steps", steps}, {"strings", s.strings}, {"entries", s.entries}};
}

void predict(const hash_map_sweep& s, int ranks, std::uint64_t tasks, std::uint64_t steps,
             const figure::record_function& record) {
  const auto ran = json_lines_of(
      fmt::format("'{}/../bin/cairn' hashmap {} --sim ranks={},clock=loggp --json --verify --quiet",
                  program_folder(), workload_of(s, tasks, steps), ranks));
  auto point = settings_of(s, "simulated", ranks, tasks, steps);
  point["accesses"] = tasks * steps;
  point["seconds"] = json_of(summary{ran.at(0)["seconds"]["run"][0].get<double>(), 0, 1});
  record(std::move(point));
}

void measure(harness& h, const hash_map_sweep& s, int ranks, std::uint64_t tasks,
             std::uint64_t steps, const figure::record_function& record) {
  const auto workload = workload_of(s, tasks, steps);
  const auto cairn = fmt::format("'{}/../bin/cairn' hashmap {} --ranks {} --threads 1 --json",
                                 program_folder(), workload, ranks);
  const auto once = json_lines_of(cairn + " --verify").at(0);
  const auto checksum = once["result"]["trials"][0]["checksum"].get<std::uint64_t>();
  const auto settings = settings_of(s, "local", ranks, tasks, steps);
  std::vector<subject> subjects;
  subjects.push_back(process("by tasks", settings, cairn + " --trials 3 --verify"));
  const auto by_hand = [&](const std::string& options) {
    auto commands = mpi_commands("hash_map", ranks);
    for (auto& command : commands) {
      command += fmt::format(" {} --runs 3 --expect {}{}", workload, checksum, options);
    }
    return fastest_command(commands);
  };
  const auto alone = by_hand(" --at-once 1 --block 1"), together = by_hand("");
  if (!alone.empty() && !together.empty()) {
    subjects.push_back(process("one string at a time", settings, alone));
    subjects.push_back(process("strings together", settings, together));
  }
  std::vector<subject*> turns;
  for (auto& each : subjects) turns.push_back(&each);
  const auto times = h.measure_alternating(turns);
  auto point = settings;
  point["accesses"] = tasks * steps;
  point["seconds"] = json_of(times[0].time);
  std::size_t i = 1;
  for (const std::string name : {"alone", "together"}) {
    if (i == times.size()) break;
    point[name + "_seconds"] = json_of(times[i].time);
    point[name] = json_of(ratio_of(times[i++], times[0]));
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
    arguments.number("--simulated", s.simulated, {2, 1 << 14},
                     "numbers of ranks, with the most tasks of the first number of steps");
    arguments.number("--tasks", s.tasks, {1, std::uint64_t{1} << 30}, "of all ranks, one or more");
    arguments.number("--steps", s.steps, {1, std::uint64_t{1} << 30}, "of a task, one or more");
    arguments.number("--strings", s.strings, {1, std::uint64_t{1} << 40}, "in the pool");
    arguments.number("--entries", s.entries, {1, std::uint64_t{1} << 40}, "at the beginning");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    record({{"task_lines", source_lines({"src/algo/hash_map_access.cpp", "src/algo/reversed.hpp",
                                         "include/cairn/algo/string_pool.hpp"})},
            {"mpi_lines", source_lines({"bench/baselines/hash_map_mpi.c"})}});
    shrink_to_memory(s, record);
    for (const int ranks : s.ranks) {
      for (const auto tasks : s.tasks) {
        for (const auto steps : s.steps) measure(h, s, ranks, tasks, steps, record);
      }
    }
    const auto most = *std::max_element(s.tasks.begin(), s.tasks.end());
    for (const int ranks : s.simulated) predict(s, ranks, most, s.steps.front(), record);
  };
  return run_figure(argc, argv, f);
}
