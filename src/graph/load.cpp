// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/graph/io/native.hpp>
#include <cairn/graph/load.hpp>
#include <cairn/graph/memory.hpp>

namespace cairn::graph {
namespace {

class stopwatch {
 public:
  explicit stopwatch(hw::clock& clock) : clock_(clock), since_(clock.now_ns()) {}
  /// Seconds since the previous call.
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
  auto edges = generate(w.pool(), g, {.rank = w.rank(), .ranks = w.size()}, options.read.progress);
  const auto names =
      reorder(w, edges, labels(size.num_vertices), options.order, options.order_seed);
  loaded_graph loaded;
  loaded.load_seconds = watch.lap();
  auto build = options.build;
  build.drop_self_loops = build.drop_duplicates = true;
  loaded.graph = build_any(w, std::move(edges), names, build);
  loaded.build_seconds = watch.lap();
  return loaded;
}

// Converts the rows of this rank back to a block of edges.
template <class Id>
io::raw_edges edges_of(world& w, const dist_csr<Id>& g) {
  io::raw_edges all;
  all.declared_vertices = g.num_vertices();
  all.directed = g.directed();
  auto& block = all.blocks.emplace_back();
  auto& edges = block.edges.template emplace<std::vector<edge<Id>>>();
  const auto& rows = g.out();
  const auto kept = [&](std::uint64_t v, Id u) { return g.directed() || v <= u; };
  const auto most = g.directed() ? rows.num_edges() : std::min(rows.num_edges(), g.num_edges());
  const auto collect = [&]<class W>(std::vector<W>* weights) {
    edges.reserve(most);
    if constexpr (!std::is_same_v<W, std::monostate>) weights->reserve(most);
    for (auto v = rows.first(); v < rows.last(); ++v) {
      if (v % 4096 == 0) w.throw_if_interrupted();
      const auto targets = rows.neighbors(v);
      for (std::size_t i = 0; i < targets.size(); ++i) {
        if (!kept(v, targets[i])) continue;
        edges.push_back({static_cast<Id>(v), targets[i]});
        if constexpr (!std::is_same_v<W, std::monostate>) {
          weights->push_back(rows.template edges_of<W>(v)[i].weight);
        }
      }
    }
  };
  if (rows.template weighted_by<std::int32_t>()) {
    all.weights = io::weight_kind::integer;
    collect(&block.weights.template emplace<1>());
  } else if (rows.template weighted_by<double>()) {
    all.weights = io::weight_kind::real;
    collect(&block.weights.template emplace<2>());
  } else {
    collect(static_cast<std::vector<std::monostate>*>(nullptr));
  }
  return all;
}

// A native file contains a built graph. Options that change the graph are applied to its edges.
loaded_graph load_native(world& w, const std::string& path, const load_options& options) {
  const auto& build = options.build;
  if (options.read.ids == io::id_kind::text) {
    throw usage_error(path +
                      ": a .cairn file stores the kind of its ids: omit the option for text ids");
  }
  stopwatch watch(w.clock());
  loaded_graph loaded;
  loaded.graph = io::read_native(w, path, build.partition, build.keep_weights);
  loaded.load_seconds = watch.lap();
  std::visit(
      [&]<class Id>(dist_csr<Id>& g) {
        const bool made_undirected = build.symmetrize && g.directed();
        if (made_undirected || build.drop_self_loops || build.drop_duplicates ||
            options.order != order_kind::file) {
          auto edges = edges_of(w, g);
          auto names = reorder(w, edges, g.labels(), options.order, options.order_seed);
          g = {};
          loaded.graph = graph::build<Id>(w, std::move(edges), std::move(names), build);
        } else if (build.inverse && g.directed()) {
          build_inverse(w, g);
        }
      },
      loaded.graph);
  loaded.build_seconds = watch.lap();
  return loaded;
}

loaded_graph load_from(world& w, const std::string& path, const load_options& options) {
  const auto format = options.read.format ? *options.read.format : io::format_of(path);
  if (format == io::file_format::native) {
    return load_native(w, path, options);
  }
  stopwatch watch(w.clock());
  auto edges = io::read_edges(w, path, options.read);
  auto names = relabel(w, edges);
  names = reorder(w, edges, names, options.order, options.order_seed);
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
