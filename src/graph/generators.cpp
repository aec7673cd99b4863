// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/format.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/bijection.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/generators.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/task/parallel_for.hpp>

namespace cairn::graph {
namespace {

using progress_function = std::function<void(std::uint64_t, std::uint64_t)>;

constexpr int max_scale = 48;
constexpr int max_edge_factor = 1 << 15;  // with max_scale: at most 2^63 edges
constexpr auto max_vertices = std::uint64_t{1} << max_scale;
constexpr std::uint64_t edges_per_draw = 1 << 16;  // a block of 512 KiB

template <class T>
void expect(bool holds, const std::string& property, T found, const std::string& expected) {
  if (holds) return;
  std::string text;
  if constexpr (std::is_same_v<T, double>) {
    text = format_number(found);
  } else {
    text = std::to_string(found);
  }
  throw usage_error(property + " is " + text + ", expected " + expected);
}

// Each class below has the number of steps that draw the whole graph, the number of steps that make
// about `edges_per_draw` edges, and draw(), which calls add(source, target) for the edges of steps
// [begin, end). Blocks have the same numbers on all ranks, so each can have its own random stream.

struct kronecker_steps {
  explicit kronecker_steps(const kronecker_graph& g, std::uint64_t random_seed)
      : seed(random_seed),
        scale(g.scale),
        num_steps(static_cast<std::uint64_t>(g.edge_factor) << g.scale) {}

  static constexpr std::uint64_t threshold(double p) {
    return static_cast<std::uint64_t>(p * 0x1.0p32);
  }

  template <class F>
  void draw(std::uint64_t begin, std::uint64_t end, F&& add) const {
    constexpr auto a = threshold(0.57), ab = threshold(0.76), abc = threshold(0.95);
    for (auto i = begin; i < end; ++i) {
      auto random = random64(seed).stream(i);
      std::uint64_t source = 0, target = 0, word = 0;
      for (int level = 0; level < scale; ++level) {
        word = level % 2 == 0 ? random() : word >> 32;
        const auto x = word & 0xffff'ffffu;
        const auto lower = std::uint64_t{x >= ab};
        const auto right = std::uint64_t{x >= a} ^ lower ^ std::uint64_t{x >= abc};
        source = source << 1 | lower;
        target = target << 1 | right;
      }
      if (source != target) add(source, target);
    }
  }

  std::uint64_t seed;
  int scale;
  std::uint64_t num_steps;
  std::uint64_t steps_per_block = edges_per_draw;
};

struct uniform_steps {
  explicit uniform_steps(const uniform_graph& g, std::uint64_t random_seed)
      : seed(random_seed),
        num_vertices(std::uint64_t{1} << g.scale),
        num_steps(static_cast<std::uint64_t>(g.edge_factor) << g.scale) {}

  template <class F>
  void draw(std::uint64_t begin, std::uint64_t end, F&& add) const {
    for (auto i = begin; i < end; ++i) {
      auto random = random64(seed).stream(i);
      const auto source = random.below(num_vertices);
      const auto target = random.below(num_vertices);
      if (source != target) add(source, target);
    }
  }

  std::uint64_t seed;
  std::uint64_t num_vertices;
  std::uint64_t num_steps;
  std::uint64_t steps_per_block = edges_per_draw;
};

// Step k is the pair (u, v), v < u, with k = u (u - 1) / 2 + v. The gaps between edges are
// geometric; this distribution is memoryless, so each block can start independently.
struct erdos_renyi_steps {
  explicit erdos_renyi_steps(const erdos_renyi_graph& g, std::uint64_t random_seed)
      : seed(random_seed),
        log_of_miss(std::log1p(-g.probability)),
        num_steps(pairs_of(g.num_vertices)) {
    const auto wanted = static_cast<double>(edges_per_draw) / g.probability;
    if (wanted < static_cast<double>(num_steps)) {
      steps_per_block = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
    } else {
      steps_per_block = std::max<std::uint64_t>(1, num_steps);
    }
  }

  static std::uint64_t pairs_of(std::uint64_t n) {
    return n % 2 == 0 ? n / 2 * (n - (n > 0)) : (n - 1) / 2 * n;
  }

  static std::uint64_t larger_end(std::uint64_t k) {
    auto u = static_cast<std::uint64_t>(std::sqrt(2.0 * static_cast<double>(k)));
    while (pairs_of(u) > k) --u;
    while (pairs_of(u + 1) <= k) ++u;
    return u;
  }

  template <class F>
  void draw(std::uint64_t begin, std::uint64_t end, F&& add) const {
    auto random = random64(seed).stream(begin);
    for (auto k = begin; k < end; ++k) {
      const auto gap = std::floor(std::log1p(-random.uniform()) / log_of_miss);
      if (!(gap < static_cast<double>(end - k))) return;
      k += static_cast<std::uint64_t>(gap);
      if (k >= end) return;
      const auto u = larger_end(k);
      add(u, k - pairs_of(u));
    }
  }

  std::uint64_t seed;
  double log_of_miss;
  std::uint64_t num_steps;
  std::uint64_t steps_per_block = 0;
};

struct grid_steps {
  explicit grid_steps(const grid_graph& g, std::uint64_t)
      : columns(g.columns), num_steps(g.rows * g.columns) {}

  template <class F>
  void draw(std::uint64_t begin, std::uint64_t end, F&& add) const {
    auto column = columns == 0 ? 0 : begin % columns;
    for (auto v = begin; v < end; ++v) {
      if (column + 1 < columns) add(v, v + 1);
      if (v + columns < num_steps) add(v, v + columns);
      column = column + 1 == columns ? 0 : column + 1;
    }
  }

  std::uint64_t columns;
  std::uint64_t num_steps;
  std::uint64_t steps_per_block = edges_per_draw / 2;
};

template <class Id, class Steps>
std::vector<io::edge_block> draw_all(task::pool& workers, const Steps& steps,
                                     const bijection* permutation, const rank_share& mine,
                                     const progress_function& progress) {
  const auto num_blocks =
      steps.num_steps / steps.steps_per_block + (steps.num_steps % steps.steps_per_block != 0);
  const pgas::partition shares(num_blocks, mine.ranks);
  std::vector<io::edge_block> blocks(static_cast<std::size_t>(shares.size(mine.rank)));
  task::parallel_for(
      workers, {.elements = blocks.size(), .chunk = 1},
      [&](worker_t k, std::size_t b, std::size_t) {
        if (k == 0 && progress) progress(b, blocks.size());
        const auto begin = (shares.first(mine.rank) + b) * steps.steps_per_block;
        const auto end = begin + std::min(steps.steps_per_block, steps.num_steps - begin);
        auto& edges = blocks[b].edges.template emplace<std::vector<edge<Id>>>();
        edges.reserve(std::min(2 * (end - begin), edges_per_draw + edges_per_draw / 32));
        steps.draw(begin, end, [&](std::uint64_t source, std::uint64_t target) {
          if (permutation != nullptr)
            source = (*permutation)(source), target = (*permutation)(target);
          edges.push_back({static_cast<Id>(source), static_cast<Id>(target)});
        });
      });
  return blocks;
}

build_size size_of(const kronecker_graph& g) {
  expect(g.scale >= 1 && g.scale <= max_scale, "the scale of the graph", g.scale,
         "a number from 1 to 48");
  expect(g.edge_factor >= 1 && g.edge_factor <= max_edge_factor, "the edge factor of the graph",
         g.edge_factor, "a number from 1 to 32768");
  return {.num_vertices = std::uint64_t{1} << g.scale,
          .num_edges = static_cast<std::uint64_t>(g.edge_factor) << g.scale};
}

build_size size_of(const uniform_graph& g) {
  return size_of(kronecker_graph{.scale = g.scale, .edge_factor = g.edge_factor});
}

build_size size_of(const erdos_renyi_graph& g) {
  expect(g.num_vertices >= 1 && g.num_vertices <= std::uint64_t{1} << 32,
         "the N of a random graph N:P", g.num_vertices, "a number from 1 to 4294967296");
  expect(g.probability >= 0 && g.probability <= 1, "the P of a random graph N:P", g.probability,
         "a number from 0 to 1");
  const auto pairs = static_cast<double>(erdos_renyi_steps::pairs_of(g.num_vertices));
  return {.num_vertices = g.num_vertices,
          .num_edges = static_cast<std::uint64_t>(pairs * g.probability)};
}

build_size size_of(const grid_graph& g) {
  expect(g.rows >= 1, "the number of rows of the grid", g.rows, "at least 1");
  expect(g.columns >= 1, "the number of columns of the grid", g.columns, "at least 1");
  expect(g.rows <= max_vertices / g.columns, "the number of rows of the grid", g.rows,
         "at most 2^48 divided by the " + std::to_string(g.columns) + " columns");
  return {.num_vertices = g.rows * g.columns,
          .num_edges = g.rows * (g.columns - 1) + g.columns * (g.rows - 1)};
}

kronecker_steps steps_of(const kronecker_graph& g, std::uint64_t seed) {
  return kronecker_steps(g, seed);
}
uniform_steps steps_of(const uniform_graph& g, std::uint64_t seed) {
  return uniform_steps(g, seed);
}
erdos_renyi_steps steps_of(const erdos_renyi_graph& g, std::uint64_t seed) {
  return erdos_renyi_steps({g.num_vertices, g.probability + 0.0}, seed);  // -0 becomes 0
}
grid_steps steps_of(const grid_graph& g, std::uint64_t seed) { return grid_steps(g, seed); }

}  // namespace

build_size size_of(const generator& g) {
  auto size = std::visit([](const auto& kind) { return size_of(kind); }, g.kind);
  size.id_bytes = fits_32_bits(size.num_vertices) ? 4 : 8;
  size.symmetric = true;
  size.with_edges = true;
  return size;
}

io::raw_edges generate(task::pool& workers, const generator& g, const rank_share& mine,
                       const progress_function& progress) {
  CAIRN_EXPECTS(mine.rank >= 0 && mine.rank < mine.ranks);
  const auto n = size_of(g).num_vertices;
  const bijection permutation({.size = n, .seed = g.seed});
  io::raw_edges edges;
  edges.declared_vertices = n;
  edges.directed = false;
  std::visit(
      [&](const auto& kind) {
        const auto steps = steps_of(kind, g.seed);
        const auto* const relabel = g.relabel ? &permutation : nullptr;
        edges.blocks = fits_32_bits(n)
                           ? draw_all<std::uint32_t>(workers, steps, relabel, mine, progress)
                           : draw_all<std::uint64_t>(workers, steps, relabel, mine, progress);
      },
      g.kind);
  return edges;
}

}  // namespace cairn::graph
