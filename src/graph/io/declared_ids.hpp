// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <cairn/graph/io/native.hpp>

namespace cairn::graph::io {

// Formats that declare the number of vertices have the ids 1 to n.

/// A graph whose vertex v has the id v + 1. Views the arrays of the original or owns others.
struct graph_by_ids {
  native_graph g;
  std::vector<std::uint64_t> offsets;
  std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>> targets;
  std::variant<std::monostate, std::vector<std::int32_t>, std::vector<double>> weights;

  graph_by_ids() = default;
  graph_by_ids(graph_by_ids&&) = default;  // the views remain valid
};

/// `g` in the order of its ids. `format` names the format in messages: "a METIS file".
///
/// Memory    none if the vertices are in this order, else that of the graph
/// Throws    usage_error if there is no vertex, or if the ids are not 1 to n
[[nodiscard]] graph_by_ids by_declared_ids(task::pool& workers, const std::string& path,
                                           const native_graph& g, const std::string& format);

/// Throws    usage_error if the graph is directed, has a loop or has parallel edges
void expect_simple(task::pool& workers, const std::string& path, const native_graph& g,
                   const std::string& format);

/// Throws    usage_error unless there are weights, all of them integers from `least`
void expect_integers(task::pool& workers, const std::string& path, const native_graph& g,
                     const std::string& format, std::int32_t least);

}  // namespace cairn::graph::io
