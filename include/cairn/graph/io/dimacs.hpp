// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// The ids of a flow's source and sink; 0: not named.
struct flow_terminals {
  std::uint64_t source = 0, sink = 0;
};

/// The terminals that the lines "n ID s" and "n ID t" before the arcs of a DIMACS file name, if it
/// is a flow ("p max").
///
/// Throws    input_error if the file cannot be read; if a terminal is named twice or no vertex; if
///           both are the same
/// Called by worker 0 of one rank.
[[nodiscard]] flow_terminals read_flow_terminals(const std::string& path);

/// Also
/// Throws    input_error if the file names one terminal, and the other is not given otherwise
[[nodiscard]] flow_terminals read_flow_terminals(const std::string& path, bool source_given,
                                                 bool sink_given);

/// Writes a file in a format of the DIMACS challenges, compressed if its name's ending says so.
///
///   ending   graph                              file
///   .gr      weights are integers               "p sp", an arc "a u v weight" for each direction
///   .gr      undirected, without weights        "p tw", a line "u v" for each edge, as in PACE
///   .max     weights are integers from 0        "p max", the ends as "n ID s" and "n ID t", arcs
///   .col     undirected and simple, no weights  "p edge", a line "e u v" for each edge
///
/// edges     of an undirected graph with "p sp": whether an edge has two arcs or one
/// ends      for .max only
/// Throws    usage_error if the name has another ending, if the ids are not 1 .. n, if there is no
///           vertex, if the format cannot hold the graph, or if the file cannot be written;
///           contract_violation for ends of another format; system_failure if writing fails
/// Called by worker 0 of one rank.
void write_dimacs(task::pool& workers, const std::string& path, const native_graph& g,
                  undirected_edges edges = undirected_edges::both_ways,
                  const std::optional<flow_terminals>& ends = {});

}  // namespace cairn::graph::io
