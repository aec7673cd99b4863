// SPDX-License-Identifier: Apache-2.0
//
// [GMT14] table II and figure 2: the bandwidth of MPI alone between two nodes against the size of a
// message, by pairs of processes times threads of each (bench/baselines/bandwidth_mpi.c), with each
// MPI that was found. Both nodes are this machine.

#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cairn/hw/topology.hpp>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>

namespace cairn::bench {
namespace {

struct bandwidth_sweep {
  std::vector<int> bytes{16,   32,   64,   128,   256,   512,   1024,
                         2048, 4096, 8192, 16384, 32768, 65536, 131072};
  std::vector<int> processes{1, 2, 4};  // on each of the two nodes
  std::vector<int> threads{1, 2, 4};    // of a process
  int most = 8;                         // threads on a node
  int samples = 7;
  double seconds = 0.2;  // of a size
};

void measure(const bandwidth_sweep& s, int processes, int threads,
             const figure::record_function& record) {
  for (const auto& mpi : mpi_commands("bandwidth", 2 * processes)) {
    const auto command = fmt::format("{} --threads {} --samples {} --seconds {} --bytes {}", mpi,
                                     threads, s.samples, s.seconds, fmt::join(s.bytes, " "));
    try {
      for (const auto& line : json_lines_of(command)) {
        const auto rates = line.at("mb_per_s").get<std::vector<double>>();
        record({{"by", mpi.substr(0, mpi.find(' '))},
                {"processes", processes},
                {"threads", threads},
                {"cores", hw::allowed_cores()},
                {"bytes", line.at("bytes")},
                {"mb_per_s", json_of(summarise(rates))}});
      }
    } catch (const failed_process& failure) {  // an MPI without threads
      fmt::print(stderr, "left out: {}\n", failure.what());
    }
  }
}

void sweep(const bandwidth_sweep& s, const figure::record_function& record) {
  if (mpi_commands("bandwidth", 2).empty()) {
    return record({{"no_mpi", "there is no MPI to measure"}});
  }
  for (const int p : s.processes) {
    for (const int t : s.threads) {
      if (p * t <= s.most) measure(s, p, t, record);
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  bandwidth_sweep s;
  figure f;
  f.name = "gmt14_2_bandwidth";
  f.description =
      "[GMT14] table II and figure 2: the bandwidth of MPI against the size of messages.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--bytes", s.bytes, {8, 1 << 24}, "of a message, one or more");
    arguments.number("--processes", s.processes, {1, 64}, "on each node, one or more");
    arguments.number("--threads", s.threads, {1, 64}, "of a process, one or more");
    arguments.number("--most", s.most, {1, 4096},
                     "threads on a node; products of processes and threads above are left out");
    arguments.number("--samples", s.samples, {1, 1000}, "of each size");
    arguments.number("--seconds", s.seconds, {0.001, 60}, "of each size");
  };
  f.sweep = [&](harness&, const figure::record_function& record) { sweep(s, record); };
  return run_figure(argc, argv, f);
}
