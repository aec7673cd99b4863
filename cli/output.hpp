// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/algo/algorithm.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::cli {

/// Throws    usage_error unless a table can be written under that name
void check_output(const std::string& path);

/// To be asked before long work.
///
/// input     the file that will be read; empty: none
/// Throws    usage_error unless `path` can be written and is another file than the input
void check_writable(const std::string& path, const std::string& input = {});

/// Writes `id,value` for every vertex, by rank 0, by ascending id; no_vertex is empty, and vertices
/// are written as the input's ids. Ids that are texts are written as such. Where vertices have
/// another order than ids rank 0 holds all values. Collective.
void write_column(world& w, const std::string& path, const graph::any_graph& g,
                  const algo::column& values);

}  // namespace cairn::cli
