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

/// Where a graph comes from: the path of a file, or a generator.
using source = std::variant<std::string, generator>;

/// order  how vertices are numbered inside; of order_kind::random by order_seed
struct load_options {
  build_options build = {};
  io::read_options read = {};
  order_kind order = order_kind::file;
  std::uint64_t order_seed = 1;
};

/// load_seconds   reading and numbering the vertices, or generating
/// build_seconds  from edges to rows
struct loaded_graph {
  any_graph graph;
  double load_seconds = 0;
  double build_seconds = 0;
};

/// The graph of a file or a generator, dealt to the ranks.
///
/// A generated graph is always undirected, without duplicates and self-loops.
///
/// Throws    input_error for a file that cannot be used; usage_error if the generator's
///           parameters are out of range or memory for the graph is not there (before any of
///           it is taken); the same on every rank
/// Collective.
[[nodiscard]] loaded_graph load(world& w, const source& from, const load_options& options = {});

}  // namespace cairn::graph
