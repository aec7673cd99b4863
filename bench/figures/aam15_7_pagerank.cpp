// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] figures 7c to e: PageRank on Erdos-Renyi graphs over ranks, threads and vertices per
// rank. The claim: pushing rank in coalesced messages is 3 to 10 times as fast as pushing each
// share in a message of its own. Pulling along in-edges is measured beside them.
//
// Each run is `cairn pagerank`, its result verified.

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/figure.hpp>
#include <bench/figures/process.hpp>

namespace cairn::bench {
namespace {

constexpr int message_bytes = 16;  // a vertex and what is added to its rank

struct pagerank_sweep {
  std::vector<int> ranks{2, 3}, threads{1, 2};
  std::vector<int> vertices{1 << 12, 1 << 14};
  int degree = 16, sweeps = 10;
};

subject job(const pagerank_sweep& s, int ranks, int threads, int vertices, const std::string& name,
            const std::string& options) {
  const auto all = vertices * ranks;
  const auto cairn = std::filesystem::path(program_folder()).parent_path() / "bin" / "cairn";
  const auto command = fmt::format(
      "'{}' pagerank --erdos-renyi {}:{:.9f} --ranks {} --threads {} --convention graphalytics "
      "--iterations {} --precision double --trials 3 --verify --json {}",
      cairn.string(), all, static_cast<double>(s.degree) / all, ranks, threads, s.sweeps, options);
  return process(name, {{"ranks", ranks}, {"threads", threads}, {"vertices", vertices}}, command);
}

void measure(harness& h, const pagerank_sweep& s, int ranks, int threads, int vertices,
             const figure::record_function& record) {
  const auto with = [&](const char* name, const std::string& options) {
    return job(s, ranks, threads, vertices, name, options);
  };
  const auto single = fmt::format("--variant push --coalesce {}", message_bytes);
  auto coalesced = with("coalesced", "--variant push"), alone = with("alone", single);
  auto pull = with("pull", "--variant pull --sweep jacobi");
  const auto a = h.compare(alone, coalesced), p = h.compare(pull, coalesced);
  fmt::print(stderr, "{:>5} {:>7} {:>9} {:>12.3f} {:>10.3f} {:>10.3f} {:>8.2f} {:>8.2f}\n", ranks,
             threads, vertices, 1e3 * a.second.time.median, 1e3 * a.first.time.median,
             1e3 * p.first.time.median, a.ratio.median, p.ratio.median);
  record({{"ranks", ranks},
          {"threads", threads},
          {"vertices", vertices},
          {"seconds", json_of(a.second.time)},
          {"alone_seconds", json_of(a.first.time)},
          {"pull_seconds", json_of(p.first.time)},
          {"alone", json_of(a.ratio)},
          {"pull", json_of(p.ratio)}});
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  pagerank_sweep s;
  figure f;
  f.name = "aam15_7_pagerank";
  f.description = "[AAM15] figures 7c to e: PageRank on Erdos-Renyi graphs over ranks.";
  f.add_options = [&](CLI::App& app) {
    app.add_option("--numbers-of-ranks", s.ranks, "one or more")->check(CLI::Range(2, 256));
    app.add_option("--workers", s.threads, "of a rank, one or more")->check(CLI::Range(1, 256));
    app.add_option("--vertices", s.vertices, "of a rank, one or more")
        ->check(CLI::Range(16, 1 << 22));
    app.add_option("--degree", s.degree, "of a vertex on average")->check(CLI::Range(1, 1 << 10));
  };
  f.sweep = [&](harness& h, const figure::record_function& record) {
    fmt::print(stderr, "{:>5} {:>7} {:>9} {:>12} {:>10} {:>10} {:>8} {:>8}\n", "ranks", "threads",
               "vertices", "coalesced ms", "alone ms", "pull ms", "alone/c", "pull/c");
    for (const int ranks : s.ranks) {
      for (const int threads : s.threads) {
        for (const int n : s.vertices) measure(h, s, ranks, threads, n, record);
      }
    }
  };
  f.check = check_pagerank;
  return run_figure(argc, argv, f);
}
