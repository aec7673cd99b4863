// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figures 5c to h: marking and incrementing 2^13 vertices of another rank by activities, C
// messages per buffer, against one-sided MPI atomics; and from N - 1 ranks to one.
//
// The baseline uses the fastest available MPI. Each run is a separate job, alternating
// bench/kernels/remote_vertices.cpp and bench/baselines/remote_vertices_mpi.c.

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <cairn/hw/topology.hpp>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>

namespace cairn::bench {
namespace {

constexpr int message_bytes = 16;

struct remote_sweep {
  std::vector<int> messages{1, 2, 4, 16, 64, 256, 1024};
  std::vector<int> ranks{2, 3, 4};
  int passes = 100;
};

/// The baseline with each MPI.
std::vector<std::string> baselines_of(const remote_sweep& s, const std::string& work, int ranks) {
  // With more ranks than cores the time of a pass is dominated by the scheduler.
  const auto passes = ranks > hw::allowed_cores() ? std::max(1, s.passes / 20) : s.passes;
  auto commands = mpi_commands("remote_vertices", ranks);
  for (auto& command : commands) {
    command += fmt::format(" --work {} --passes {} --runs 1", work, passes);
  }
  return commands;
}

void measure(harness& h, const std::string& mpi, const std::string& work, int ranks, int messages,
             const figure::record_function& record) {
  const auto cairn = fmt::format(
      "'{}/remote_vertices' --ranks {} --threads 1 --work {} --coalesce {} --runs 1 "
      "--min-seconds 0.05 --lines -",
      program_folder(), ranks, work, messages * message_bytes);
  const nlohmann::json settings{{"work", work}, {"ranks", ranks}, {"messages", messages}};
  auto slow = process("one_sided_mpi", settings, mpi);
  auto fast = process("activities", settings, cairn);
  const auto c = h.compare(slow, fast);
  record({{"work", work},
          {"ranks", ranks},
          {"messages", messages},
          {"by", mpi.substr(0, mpi.find(' '))},
          {"cores", hw::allowed_cores()},
          {"mpi", json_of(c.first.time)},
          {"seconds", json_of(c.second.time)},
          {"ratio", json_of(c.ratio)}});
}

void sweep(harness& h, const remote_sweep& s, const figure::record_function& record) {
  if (mpi_commands("remote_vertices", 2).empty()) {
    record({{"no_mpi", "there is no MPI to measure against"}});
    return;
  }
  for (const auto* const work : {"mark", "increment"}) {
    for (const int ranks : s.ranks) {
      const auto mpi = fastest_command(baselines_of(s, work, ranks));
      if (mpi.empty()) return record({{"no_mpi", "no MPI runs the baseline to its end"}});
      const auto coalesced = std::vector<int>{s.messages.back()};
      for (const int c : ranks == 2 ? s.messages : coalesced) {
        measure(h, mpi, work, ranks, c, record);
      }
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  remote_sweep s;
  figure f;
  f.name = "aam15_5_remote";
  f.description = "[AAM15] figures 5c to h: activities on remote vertices.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--messages", s.messages, {1, 1 << 20}, "C in a buffer, ascending");
    arguments.number("--numbers-of-ranks", s.ranks, {2, 256}, "2, and the N of N - 1 to one");
    arguments.number("--passes", s.passes, {1, 1 << 20}, "of a run of MPI");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
