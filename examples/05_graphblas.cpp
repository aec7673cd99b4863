// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, shortest paths and PageRank as products of a matrix and a vector, as in
// GraphBLAS. The product is one operator and one epoch: examples/models/graphblas.hpp.
//   ./05_graphblas --ranks 3 --threads 2

#include <cmath>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <cairn/core/launch.hpp>
#include <cairn/graph/from_edges.hpp>

#include "models/graphblas.hpp"

namespace gb = graphblas;

gb::matrix make_matrix(cairn::world& world) {
  using ids = std::vector<std::uint32_t>;
  const bool first = world.rank() == 0;  // which gives all edges
  const auto sources = first ? ids{0, 0, 2, 1, 3, 4, 2, 5} : ids();
  const auto targets = first ? ids{1, 2, 1, 3, 4, 0, 5, 3} : ids();
  const auto weights = first ? std::vector{4, 1, 2, 5, 3, 1, 7, 1} : std::vector<int>();
  return std::get<gb::matrix>(
      cairn::graph::from_edges(world, std::span(sources), std::span(targets), std::span(weights)));
}

int main(int argc, char** argv) {
  return cairn::launch(argc, argv, [](cairn::world& world) {
    const auto a = make_matrix(world);
    constexpr double none = gb::min_plus::identity();
    const auto all = [](auto) { return true; };
    const auto replace = [](double, double x) { return x; };
    const auto is_there = [](double x) { return x != none; };
    const auto start = [&](double elsewhere, double at_0) {
      gb::vector x(world, a.partition(), elsewhere);
      if (x.owns(0)) x.store(0, at_0);
      return x;
    };

    // Breadth-first search: the mask selects the vertices that are not reached yet.
    auto depth = start(none, 0), frontier = start(none, 0);
    for (int level = 1; world.any(std::ranges::any_of(frontier.local(), is_there)); ++level) {
      const auto unreached = [&](auto v) { return depth.load(v) == none; };
      gb::vector next(world, a.partition(), none);
      gb::mxv<gb::min_second>(world, next, unreached, replace, a, frontier);
      for (auto v = a.out().first(); v < a.out().last(); ++v) {
        frontier.store(v, next.load(v));
        if (is_there(next.load(v))) depth.store(v, level);
      }
    }

    // Shortest paths: the accumulator is the minimum.
    auto length = start(none, 0);
    for (int step = 1; step < 6; ++step)
      gb::mxv<gb::min_plus>(world, length, all, gb::min_plus::combine, a, length);

    // PageRank: the accumulator adds the teleport term.
    gb::vector rank(world, a.partition(), 1.0 / 6), contribution(world, a.partition(), 0);
    for (int sweep = 0; sweep < 100; ++sweep) {
      for (auto v = a.out().first(); v < a.out().last(); ++v)
        contribution.store(v, rank.load(v) / static_cast<double>(a.out().degree(v)));
      const auto jump = [](double, double x) { return 0.15 / 6 + 0.85 * x; };
      gb::mxv<gb::plus_second>(world, rank, all, jump, a, contribution);
    }

    constexpr double depths[] = {0, 1, 1, 2, 3, 2}, lengths[] = {0, 3, 1, 8, 11, 8};
    constexpr double ranks[] = {0.2089725, 0.1621840, 0.1138133, 0.2252214, 0.2164382, 0.0733707};
    bool right = true;
    for (auto v = a.out().first(); v < a.out().last(); ++v) {
      right = right && depth.load(v) == depths[v] && length.load(v) == lengths[v] &&
              std::abs(rank.load(v) - ranks[v]) < 1e-6;
    }
    if (world.rank() == 0) fmt::print("depths, lengths and ranks of 6 vertices\n");
    return world.any(!right) ? 1 : 0;
  });
}
