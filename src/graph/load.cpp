// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <cairn/graph/load.hpp>
#include <cairn/graph/memory.hpp>

namespace cairn::graph {
namespace {

class stopwatch {
 public:
  explicit stopwatch(hw::clock& clock) : clock_(clock), since_(clock.now_ns()) {}
  /// Seconds since the last lap.
  double lap() {
    const auto now = clock_.now_ns();
    return static_cast<double>(now - std::exchange(since_, now)) * 1e-9;
  }

 private:
  hw::clock& clock_;
  std::uint64_t since_;
};

loaded_graph load_from(world& w, const generator& g, const load_options& options) {
  stopwatch watch(w.clock());
  const auto size = size_of(g);
  expect_memory_for(w, size);
  auto edges = generate(w.pool(), g, w.rank(), w.size());
  loaded_graph loaded;
  loaded.load_seconds = watch.lap();
  auto build = options.build;
  build.drop_self_loops = build.drop_duplicates = true;
  loaded.graph = build_any(w, std::move(edges), labels(size.num_vertices), build);
  loaded.build_seconds = watch.lap();
  return loaded;
}

loaded_graph load_from(world& w, const std::string& path, const load_options& options) {
  stopwatch watch(w.clock());
  auto edges = io::read_edges(w, path, options.read);
  auto names = relabel(w, edges);
  loaded_graph loaded;
  loaded.load_seconds = watch.lap();
  loaded.graph = build_any(w, std::move(edges), std::move(names), options.build);
  loaded.build_seconds = watch.lap();
  return loaded;
}

}  // namespace

loaded_graph load(world& w, const source& from, const load_options& options) {
  return std::visit([&](const auto& kind) { return load_from(w, kind, options); }, from);
}

}  // namespace cairn::graph
