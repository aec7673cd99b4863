// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figures 7c to e: PageRank on Erdos-Renyi graphs over ranks, threads and vertices per
// rank: the same graph on all splits of the cores into ranks and threads, and on twice as many
// ranks as cores. Rank is pushed in coalesced messages and pulled along in-edges, by Cairn and by
// bench/baselines/pagerank_pull_mpi.c with a process per worker. Contributions to one vertex are
// summed before they are sent, except where coalesced messages are compared with messages that
// travel alone: there each contribution is a message.
//
// Each run is a separate job with a verified result.

#include <filesystem>
#include <string>
#include <tests/support/temporary_folder.hpp>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <cairn/hw/topology.hpp>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>

namespace cairn::bench {
namespace {

constexpr int message_bytes = 16;  // a vertex and the contribution to its rank

struct split {
  int ranks, threads;
};

/// All splits of `cores` into ranks and threads.
std::vector<split> splits_of(int cores) {
  std::vector<split> all;
  for (int ranks = 1; ranks <= cores; ++ranks) {
    if (cores % ranks == 0) all.push_back({ranks, cores / ranks});
  }
  return all;
}

struct pagerank_sweep {
  int cores = hw::allowed_cores();
  // with one thread each, in addition to the splits
  std::vector<int> ranks{2 * hw::allowed_cores()};
  std::vector<int> vertices{1 << 12, 1 << 13};  // per core
  int degree = 16, sweeps = 10;
};

/// The graph of a point as an edge list, read by both sides, and its ranks by Cairn. The destructor
/// removes the files.
class files {
 public:
  files(const pagerank_sweep& s, int vertices) {
    make(fmt::format("generate --erdos-renyi {}:{:.9f} '{}'", vertices,
                     static_cast<double>(s.degree) / vertices, graph()));
    make(fmt::format("pagerank '{}' {} --verify --output '{}'", graph(), meaning(s), ranks()));
  }

  [[nodiscard]] std::string graph() const { return folder_ / "graph.el"; }
  [[nodiscard]] std::string ranks() const { return folder_ / "ranks.csv"; }

  static std::string cairn() {
    return (std::filesystem::path(program_folder()).parent_path() / "bin" / "cairn").string();
  }
  static std::string meaning(const pagerank_sweep& s) {
    return fmt::format("--convention graphalytics --iterations {} --precision double", s.sweeps);
  }

 private:
  static void make(const std::string& arguments) {
    static_cast<void>(json_lines_of(fmt::format("'{}' {} --quiet", cairn(), arguments)));
  }

  support::temporary_folder folder_;
};

void measure(harness& h, const pagerank_sweep& s, const files& input, int ranks, int threads,
             int vertices, const figure::record_function& record) {
  const nlohmann::json settings{{"ranks", ranks}, {"threads", threads}, {"vertices", vertices}};
  const auto with = [&](const char* name, const std::string& options) {
    return process(
        name, settings,
        fmt::format("'{}' pagerank '{}' {} --ranks {} --threads {} --trials 3 --verify "
                    "--json {}",
                    files::cairn(), input.graph(), files::meaning(s), ranks, threads, options));
  };
  auto coalesced = with("coalesced", "--variant push");
  auto pull = with("pull", "--variant pull --sweep jacobi");
  const auto p = h.compare(pull, coalesced);
  nlohmann::json point{{"ranks", ranks},
                       {"threads", threads},
                       {"vertices", vertices},
                       {"seconds", json_of(p.second.time)},
                       {"pull_seconds", json_of(p.first.time)},
                       {"pull", json_of(p.ratio)}};
  if (ranks > 1) {
    const std::string single = "--variant push --aggregate off";
    auto together = with("not_summed", single);
    auto alone = with("alone", fmt::format("{} --coalesce {}", single, message_bytes));
    const auto a = h.compare(alone, together);
    point["not_summed_seconds"] = json_of(a.second.time);
    point["alone_seconds"] = json_of(a.first.time);
    point["alone"] = json_of(a.ratio);
  }
  auto by_mpi = mpi_commands("pagerank_pull", ranks * threads);
  for (auto& command : by_mpi) {
    command += fmt::format(" --graph '{}' --expect '{}' --sweeps {} --runs 3", input.graph(),
                           input.ranks(), s.sweeps);
  }
  if (const auto fastest = fastest_command(by_mpi); !fastest.empty()) {
    auto by_hand = process("pull_by_hand", settings, fastest);
    const auto m = h.compare(by_hand, coalesced);
    point["mpi_pull_seconds"] = json_of(m.first.time);
    point["mpi_pull"] = json_of(m.ratio);
  }
  record(std::move(point));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  pagerank_sweep s;
  figure f;
  f.name = "aam15_7_pagerank";
  f.description = "[AAM15] figures 7c to e: PageRank on Erdos-Renyi graphs over ranks.";
  f.add_options = [&](argument_list& arguments) {
    arguments.number("--cores", s.cores, {1, 1 << 10}, "split into ranks and threads in every way");
    arguments.number("--numbers-of-ranks", s.ranks, {2, 256}, "of one thread, beside the splits");
    arguments.number("--vertices", s.vertices, {16, 1 << 22}, "for each of the cores, one or more");
    arguments.number("--degree", s.degree, {1, 1 << 10}, "of a vertex on average");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    auto splits = splits_of(s.cores);
    for (const int ranks : s.ranks) splits.push_back({ranks, 1});
    for (const int n : s.vertices) {
      const files input(s, s.cores * n);
      for (const auto& [ranks, threads] : splits) {
        measure(h, s, input, ranks, threads, s.cores * n / ranks, record);
      }
    }
  };
  return run_figure(argc, argv, f);
}
