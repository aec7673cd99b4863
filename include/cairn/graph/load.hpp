// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <cairn/core/world.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/generators.hpp>
#include <cairn/graph/io/read_edges.hpp>

namespace cairn::graph {

/// The source of a graph: the path of a file, or a generator.
using source = std::variant<std::string, generator>;

/// order  the numbering of vertices; order_seed applies to order_kind::random
struct load_options {
  build_options build = {};
  io::read_options read = {};
  order_kind order = order_kind::file;
  std::uint64_t order_seed = 1;
};

/// load_seconds   reading and numbering the vertices, or generating
/// build_seconds  building rows from edges
struct loaded_graph {
  any_graph graph;
  double load_seconds = 0;
  double build_seconds = 0;
};

/// The graph of a file or a generator, distributed to the ranks.
///
/// A generated graph is always undirected, without duplicates and self-loops.
///
/// Throws    input_error for an invalid file; usage_error if a parameter of the generator is out of
///           range or the graph does not fit in memory (checked before allocation); the same on
///           every rank
/// Collective.
[[nodiscard]] loaded_graph load(world& w, const source& from, const load_options& options = {});

}  // namespace cairn::graph
