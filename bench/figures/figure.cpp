// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include <cairn/algo/verify_bfs.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/hw/topology.hpp>

#include <bench/baselines/bfs_threads.hpp>
#include <bench/baselines/vertex_program.hpp>
#include <bench/figures/figure.hpp>
#include <bench/program.hpp>

namespace cairn::bench {

namespace {

/// "level 2, atomics 0.0123 +- 0.0004, ..."
std::string text_of(const nlohmann::json& point) {
  std::string all;
  for (const auto& [name, value] : point.items()) {
    if (name == "figure") continue;
    const auto said = value.contains("mad")
                          ? fmt::format("{:.4g} +- {:.2g}", value.at("median").get<double>(),
                                        value.at("mad").get<double>())
                          : value.dump();
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", name, said);
  }
  return all;
}

/// Writes and counts the points of a sweep.
class point_writer {
 public:
  point_writer(harness& h, std::string name) : harness_(h), name_(std::move(name)) {}

  void write(nlohmann::json point) {
    fmt::print(stderr, "{}\n", text_of(point));
    point["figure"] = name_;
    harness_.write(std::move(point));
    ++written_;
  }
  void finish() { harness_.write({{"figure", name_}, {"points", written_}}); }

 private:
  harness& harness_;
  std::string name_;
  int written_ = 0;
};

}  // namespace

int run_figure(int argc, char** argv, const figure& f) {
  return run_program(argc, argv, f.description, f.add_options, [&](harness& h) {
    point_writer out(h, f.name);
    f.sweep(h, [&](nlohmann::json point) { out.write(std::move(point)); });
    out.finish();
  });
}

int run_figure_on_ranks(int argc, char** argv, const figure& f) {
  return run_program_on_ranks(argc, argv, f.description, f.add_options, [&](world& w, harness& h) {
    if (w.rank() != 0) return f.sweep_on_ranks(w, h, [](const auto&) {});
    point_writer out(h, f.name);
    f.sweep_on_ranks(w, h, [&](nlohmann::json point) { out.write(std::move(point)); });
    out.finish();
  });
}

std::vector<int> all_thread_counts() {
  std::vector<int> counts;
  for (int t = 1; t < hw::allowed_cores(); t *= 2) counts.push_back(t);
  counts.push_back(hw::allowed_cores());
  return counts;
}

search_options::search_options() : threads{1} {
  if (hw::allowed_cores() > 1) threads.push_back(hw::allowed_cores());
}

void search_options::add_to(argument_list& arguments) {
  arguments.number("--kronecker", scale, {1, 31}, "log2 of the vertices");
  arguments.number("--edge-factor", edge_factor, {1, 1 << 10}, "edges drawn by vertex");
  arguments.number("--seed", seed, {}, "of graph and source");
  arguments.number("--threads", threads, {1, 4096}, "one or more");
}

nlohmann::json aborts_of(const counter_totals& counted) {
  using obs::counter;
  const auto count = [&](counter c) { return counted[static_cast<std::size_t>(c)]; };
  return {{"conflict", count(counter::aborts_conflict)},
          {"capacity", count(counter::aborts_capacity)},
          {"explicit", count(counter::aborts_explicit)},
          {"other", count(counter::aborts_other)}};
}

nlohmann::json counts_of(const search_log& log) {
  using obs::counter;
  return {{"searches", log.searches},
          {"attempts", log.count(counter::attempts)},
          {"aborts", aborts_of(log.counted)},
          {"splits", log.count(counter::splits)},
          {"fallbacks", log.count(counter::fallbacks)}};
}

struct search_stage::state {
  using graph_type = graph::dist_csr<std::uint32_t>;

  state(const search_options& given, int threads)
      : options(given),
        w(threads),
        g(std::get<graph_type>(
            graph::load(w, source_of(given), {.build = {.symmetrize = !given.file.empty()}})
                .graph)) {
    if (g.num_edges() == 0) throw std::runtime_error("the graph has no edges");
    if (!options.file.empty()) {  // of largest degree, so most likely in the largest component
      for (std::uint32_t v = 0; v < g.num_vertices(); ++v) {
        if (g.out().degree(v) > g.out().degree(source)) source = v;
      }
      return;
    }
    random64 draw(options.seed);
    do {
      source = static_cast<std::uint32_t>(draw.below(g.num_vertices()));
    } while (g.out().degree(source) == 0);
  }

  static graph::source source_of(const search_options& given) {
    if (!given.file.empty()) return given.file;
    return graph::generator{graph::kronecker_graph{given.scale, given.edge_factor}, given.seed};
  }

  [[nodiscard]] nlohmann::json settings() const {
    nlohmann::json all{{"seed", options.seed}, {"source", source}, {"threads", w.workers()}};
    if (!options.file.empty()) {
      all["file"] = options.file;
    } else {
      all["kronecker"] = options.scale;
      all["edge_factor"] = options.edge_factor;
    }
    return all;
  }

  search_options options;
  world w;
  graph_type g;
  std::uint32_t source = 0;
};

search_stage::search_stage(const search_options& options, int threads)
    : state_(std::make_unique<state>(options, threads)) {}
search_stage::~search_stage() = default;

world& search_stage::on() noexcept { return state_->w; }

subject search_stage::search(const activity::options& opt, search_log& log) {
  auto* const s = state_.get();
  const algo::bfs_options options{
      .activity = opt, .direction = traverse::direction::push, .trace = true};
  kernel<state*, algo::bfs_result<std::uint32_t>> kern;
  kern.name = "bfs_top_down";
  kern.settings = s->settings();
  kern.settings["mechanism"] = activity::name(opt.mechanism);
  if (opt.mechanism == activity::mechanism::htm) {
    kern.settings["grain"] = opt.grain;
    kern.settings["retry"] = tm::name(opt.retry);
  }
  kern.make_input = [s] { return s; };
  kern.run = [options, &log](state* on) {
    const auto before = on->w.counters().totals();
    auto found = algo::bfs(on->w, on->g, on->source, options);
    const auto after = on->w.counters().totals();
    for (std::size_t i = 0; i < after.size(); ++i) log.counted[i] += after[i] - before[i];
    log.traces.push_back(found.trace);
    ++log.searches;
    return found;
  };
  kern.verify = [](state* on, const algo::bfs_result<std::uint32_t>& found) {
    return algo::verify_bfs(on->w, on->g, on->source, found.parent).value_or("");
  };
  kern.counters = [s] { return s->w.counters().totals(); };
  return subject(std::move(kern));
}

template <class Search>
subject search_stage::by_baseline(const char* name, Search by) {
  auto* const s = state_.get();
  using parents = std::invoke_result_t<Search, std::span<const std::uint64_t>,
                                       std::span<const std::uint32_t>, std::uint32_t, int>;
  kernel<state*, parents> kern;
  kern.name = name;
  kern.settings = s->settings();
  kern.make_input = [s] { return s; };
  kern.run = [by](state* on) {
    const auto& rows = on->g.out();
    return by(rows.offsets(), rows.targets(), on->source, on->w.workers());
  };
  kern.verify = [](state* on, const parents& parent) {
    pgas::vertex_map<std::uint32_t> found(on->w, on->g.partition(), no_vertex<std::uint32_t>);
    std::copy(parent.begin(), parent.end(), found.local().begin());
    return algo::verify_bfs(on->w, on->g, on->source, found).value_or("");
  };
  return subject(std::move(kern));
}

subject search_stage::by_hand() {
  const auto& rows = state_->g.out();
  const auto threads =
      std::make_shared<baselines::bfs_threads>(rows.offsets(), rows.targets(), on().workers());
  return by_baseline("bfs_threads", [threads](auto, auto, std::uint32_t root, int) {
    return threads->search(root);
  });
}

subject search_stage::by_vertex_program() {
  return by_baseline("bfs_vertex_program", baselines::bfs_vertex_program);
}

}  // namespace cairn::bench
