// SPDX-License-Identifier: Apache-2.0
//
// The runtime's choice against every mechanism and M that can be requested, for a top-down search,
// a coloring (single-cell), or a spanning forest (multi-cell). A sweep finds the best setting;
// then its runs alternate with those of the choice.
//
//   online_choice --algorithm mst --kronecker 16 18 --files ../shared/data/graphs/dblp-2010.mtx.gz

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/coloring.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/algo/verify_mst.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/hw/topology.hpp>

#include <bench/program.hpp>

namespace cairn::bench {
namespace {

using activity::mechanism;
using graph_type = graph::dist_csr<std::uint32_t>;

struct sweep {
  std::string algorithm = "bfs";
  std::vector<std::string> files;
  std::vector<int> scales;
  int threads = hw::allowed_cores();
  std::vector<std::size_t> grains{1, 2, 4, 8, 16, 64, 256};
};

/// The outcome of a run: the mechanism that it used, and what finds the error, if any.
struct ending {
  activity::mechanism mechanism = activity::mechanism::automatic;
  std::size_t grain = 1;
  std::string chosen;
  std::function<std::optional<std::string>()> fault;
};

struct candidate {
  std::string name;
  activity::options activity;
  double seconds = 0;
};

class stage {
 public:
  stage(const sweep& s, const graph::source& from)
      : w_(s.threads),
        algorithm_(s.algorithm),
        g_(std::get<graph_type>(
            graph::load(w_, from,
                        {.build = {.symmetrize = from.index() == 0, .keep_weights = false}})
                .graph)) {
    for (std::uint32_t v = 0; v < g_.num_vertices(); ++v) {
      if (g_.out().degree(v) > g_.out().degree(source_)) source_ = v;
    }
  }

  [[nodiscard]] std::vector<candidate> candidates(const sweep& s) {
    const bool several = algorithm_ == "mst", htm = w_.transactions().works;
    std::vector<candidate> all{{"locks", {.mechanism = mechanism::locks}},
                               {"one-lock", {.mechanism = mechanism::one_lock}}};
    if (!several) all.push_back({"atomics", {.mechanism = mechanism::atomics}});
    if (w_.workers() == 1) all.push_back({"plain", {.mechanism = mechanism::plain}});
    for (const auto m : s.grains) {
      if (several) all.push_back({fmt::format("stm, M = {}", m), {mechanism::stm, m}});
      if (htm) all.push_back({fmt::format("htm, M = {}", m), {mechanism::htm, m}});
    }
    return all;
  }

  /// `last` receives the outcome of the last run.
  [[nodiscard]] subject run(const std::string& graph, const candidate& by, ending& last) {
    kernel<int, ending> kern;
    kern.name = algorithm_;
    kern.settings = {{"graph", graph}, {"threads", w_.workers()}, {"method", by.name}};
    kern.make_input = [] { return 0; };
    kern.run = [this, opt = by.activity](int&) { return once(opt); };
    kern.verify = [&last](int, const ending& e) {
      last = {e.mechanism, e.grain, e.chosen, {}};
      return e.fault().value_or("");
    };
    return subject(std::move(kern));
  }

 private:
  template <class Result, class Verify>
  static ending ended(const Result& r, Verify verify) {
    return {r->ran.mechanism, r->ran.grain, r->ran.why, [r, verify] { return verify(*r); }};
  }
  ending once(const activity::options& opt) {
    if (algorithm_ == "mst") {
      auto found = algo::mst<std::uint32_t>(w_, g_, {.activity = opt});
      return ended(std::make_shared<decltype(found)>(std::move(found)), [this](const auto& r) {
        return algo::verify_mst<std::uint32_t>(w_, g_, r.edges);
      });
    }
    if (algorithm_ == "coloring") {
      auto found = algo::coloring<std::uint32_t>(w_, g_, {.activity = opt});
      return ended(std::make_shared<decltype(found)>(std::move(found)),
                   [this](const auto& r) { return algo::verify_coloring(w_, g_, r.color); });
    }
    auto found = algo::bfs<std::uint32_t>(
        w_, g_, source_, {.activity = opt, .direction = traverse::direction::push});
    return ended(std::make_shared<decltype(found)>(std::move(found)),
                 [this](const auto& r) { return algo::verify_bfs(w_, g_, source_, r.parent); });
  }

  world w_;
  std::string algorithm_;
  graph_type g_;
  std::uint32_t source_ = 0;
};

void measure(harness& h, const sweep& s, const std::string& name, const graph::source& from) {
  stage on(s, from);
  ending last;
  auto all = on.candidates(s);
  for (auto& by : all) {
    auto one = on.run(name, by, last);
    by.seconds = h.measure(one).time.median;
  }
  const auto& best = *std::min_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  auto best_one = on.run(name, best, last), chosen = on.run(name, {"chosen", {}}, last);
  const auto pair = h.compare(best_one, chosen);
  fmt::print(stderr, "{:<20} {:>9.3f} {:>9.3f} {:<12} {:>6.3f} {:>6.3f}  {} {}: {}\n", name,
             1e3 * pair.second.time.median, 1e3 * pair.first.time.median, best.name,
             pair.ratio.median, pair.ratio.mad, activity::name(last.mechanism), last.grain,
             last.chosen);
  nlohmann::json point{{"algorithm", s.algorithm},
                       {"graph", name},
                       {"threads", s.threads},
                       {"seconds", json_of(pair.second.time)},
                       {"best", best.name},
                       {"ratio", json_of(pair.ratio)},
                       {"mechanism", activity::name(last.mechanism)},
                       {"grain", last.grain},
                       {"chosen", last.chosen}};
  for (const auto& by : all) point["sweep"][by.name] = by.seconds;
  h.write(std::move(point));
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn;
  bench::sweep s;
  return bench::run_program(
      argc, argv, "The runtime's choice against the best mechanism and M of a sweep.",
      [&](bench::argument_list& arguments) {
        arguments.word("--algorithm", s.algorithm, {"bfs", "coloring", "mst"}, "");
        arguments.file("--files", s.files, "of graphs, read as undirected");
        arguments.number("--kronecker", s.scales, {}, "log2 of the vertices, one or more");
        arguments.number("--threads", s.threads, {1, 4096}, "");
        arguments.number("--grains", s.grains, {std::size_t{1}, cairn::max_grain},
                         "M of transactions, one or more");
      },
      [&](bench::harness& h) {
        fmt::print(stderr, "{:<20} {:>9} {:>9} {:<12} {:>6} {:>6}\n", s.algorithm, "chosen ms",
                   "best ms", "best", "ratio", "mad");
        for (const int scale : s.scales) {
          bench::measure(h, s, fmt::format("kron{}", scale),
                         graph::generator{graph::kronecker_graph{scale, 16}, 1});
        }
        for (const auto& file : s.files) {
          bench::measure(h, s, std::filesystem::path(file).filename().string(), file);
        }
      });
}
