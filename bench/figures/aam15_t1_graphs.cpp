// SPDX-License-Identifier: Apache-2.0
//
// [AAM15] table 1: breadth-first search on real graphs, read as undirected, from the vertex of the
// largest degree: by the mechanism and M that the runtime chooses, by the best of a sweep, by hand
// (bench/baselines/bfs_threads.hpp) and by a bulk-synchronous vertex program
// (bench/baselines/vertex_program.hpp).
//
//   aam15_t1_graphs --graphs FOLDER --names web-Google roadNet-CA

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/figures/figure.hpp>

namespace cairn::bench {
namespace {

namespace fs = std::filesystem;
using activity::mechanism;

struct known_graph {
  const char *name, *kind;
};

// The paper's 16 by SNAP's names, then those of this project's data.
constexpr std::array known{
    known_graph{"wiki-Talk", "communication"},
    known_graph{"email-EuAll", "communication"},
    known_graph{"soc-LiveJournal1", "social"},
    known_graph{"com-orkut", "social"},
    known_graph{"com-lj", "social"},
    known_graph{"com-youtube", "social"},
    known_graph{"com-dblp", "social"},
    known_graph{"com-amazon", "social"},
    known_graph{"amazon0601", "purchases"},
    known_graph{"roadNet-CA", "roads"},
    known_graph{"roadNet-TX", "roads"},
    known_graph{"roadNet-PA", "roads"},
    known_graph{"cit-Patents", "citations"},
    known_graph{"web-Google", "webs"},
    known_graph{"web-BerkStan", "webs"},
    known_graph{"web-Stanford", "webs"},
    known_graph{"loc-gowalla", "social"},
    known_graph{"dblp-2010", "social"},
    known_graph{"soc-Epinions1", "social"},
    known_graph{"web-Google-scc", "webs"},
    known_graph{"web-NotreDame", "webs"},
    known_graph{"cnr-2000", "webs"},
    known_graph{"USA-road-d.NY", "roads"},
    known_graph{"USA-road-FLA", "roads"},
    known_graph{"email-Enron", "communication"},
    known_graph{"ca-CondMat-cc1", "social"},
    known_graph{"as-caida20071105", "internet"},
    known_graph{"wiki-Vote", "social"},
};

struct table_sweep {
  std::string folder = "../shared/data/graphs";
  std::vector<std::string> names;  // empty: all known graphs
  search_options common;
  std::vector<std::size_t> grains{2, 8, 32, 128};
};

/// The file of graph N: N.txt, N.ungraph.txt, N.mtx.gz, ..., any name that the readers accept.
/// Empty if there is none.
fs::path file_of(const fs::path& folder, const std::string& name) {
  for (const auto* const format :
       {".txt", ".ungraph.txt", ".el", ".wel", ".csv", ".mtx", ".gr", ".graph", ".cairn"}) {
    for (const auto* const compression : {"", ".gz", ".zst", ".xz"}) {
      auto file = folder / (name + format + compression);
      if (fs::exists(file)) return file;
    }
  }
  return {};
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& g : known) names.emplace_back(g.name);
  return names;
}

struct candidate {
  std::string name;
  activity::options activity;
  double seconds = 0;
};

void measure(harness& h, const table_sweep& s, const known_graph& which, const fs::path& file,
             const figure::record_function& record) {
  auto options = s.common;
  options.file = file.string();
  search_stage stage(options, options.threads.back());
  search_log log;
  std::vector<candidate> all{{"atomics", {.mechanism = mechanism::atomics}},
                             {"locks", {.mechanism = mechanism::locks}},
                             {"one-lock", {.mechanism = mechanism::one_lock}}};
  if (stage.on().workers() == 1) all.push_back({"plain", {.mechanism = mechanism::plain}});
  const bool htm = stage.on().transactions().works;
  for (const auto m : s.grains) {
    if (htm)
      all.push_back({fmt::format("htm, M = {}", m), {.mechanism = mechanism::htm, .grain = m}});
  }
  for (auto& c : all) {
    auto by = stage.search(c.activity, log);
    c.seconds = h.measure(by).time.median;
  }
  const auto faster = [](const candidate& a, const candidate& b) { return a.seconds < b.seconds; };
  const auto& best = *std::min_element(all.begin(), all.end(), faster);
  auto chosen = stage.search({}, log), best_one = stage.search(best.activity, log),
       atomics = stage.search({.mechanism = mechanism::atomics}, log);
  auto by_hand = stage.by_hand(), vertex_program = stage.by_vertex_program();
  const auto online = h.compare(best_one, chosen), by_atomics = h.compare(atomics, chosen),
             hand = h.compare(by_hand, chosen), pregel = h.compare(vertex_program, chosen);
  nlohmann::json point{{"graph", which.name},
                       {"kind", which.kind},
                       {"threads", stage.on().workers()},
                       {"seconds", json_of(online.second.time)},
                       {"best", best.name},
                       {"ratio", json_of(online.ratio)},
                       {"atomics_ratio", json_of(by_atomics.ratio)},
                       {"by_hand_ratio", json_of(hand.ratio)},
                       {"vertex_program_ratio", json_of(pregel.ratio)}};
  for (const auto& c : all) point["sweep"][c.name] = c.seconds;
  if (htm) {
    const auto first = std::find_if(all.begin(), all.end(),
                                    [](const candidate& c) { return c.activity.grain != 0; });
    point["htm_grain"] = std::min_element(first, all.end(), faster)->activity.grain;
    auto fixed = stage.search(
        {.mechanism = mechanism::htm, .grain = activity::start_values{}.htm_grain}, log);
    point["fixed_ratio"] = json_of(h.compare(fixed, chosen).ratio);
  }
  record(std::move(point));
}

void sweep(harness& h, const table_sweep& s, const figure::record_function& record) {
  for (const auto& g : known) {
    const auto named = std::find(s.names.begin(), s.names.end(), g.name);
    if (!s.names.empty() && named == s.names.end()) continue;
    const auto file = file_of(s.folder, g.name);
    if (file.empty()) {
      record({{"missing", g.name}});
      continue;
    }
    measure(h, s, g, file, record);
  }
  const auto probe = hw::probe_transactions();
  if (!probe.works) record({{"no_htm", probe.reason}});
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  table_sweep s;
  s.common.threads = {s.common.threads.back()};
  if (const auto* const folder = std::getenv("GRAPHS")) s.folder = folder;
  figure f;
  f.name = "aam15_t1_graphs";
  f.description = "[AAM15] table 1: a search on real graphs.";
  f.add_options = [&](argument_list& arguments) {
    arguments.folder("--graphs", s.folder, "where they are; default: $GRAPHS");
    arguments.word("--names", s.names, known_names(),
                   "of them, without endings; default: all that are known");
    arguments.number("--threads", s.common.threads, {1, 4096}, "one number");
    arguments.number("--grains", s.grains, {std::size_t{1}, cairn::max_grain},
                     "M of htm, one or more");
  };
  f.sweep = [&](harness& h, const figure::record_function& record) { sweep(h, s, record); };
  return run_figure(argc, argv, f);
}
