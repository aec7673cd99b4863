// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/metis.hpp>

#include "declared_ids.hpp"
#include "entry_lines.hpp"

namespace cairn::graph::io {

void write_metis(task::pool& workers, const std::string& path, const native_graph& g) {
  if (!without_compression(path).ends_with(".graph")) {
    throw usage_error(path + ": a METIS file's name ends in .graph");
  }
  const auto ordered = by_declared_ids(workers, path, g, "a METIS file");
  expect_simple(workers, path, ordered.g, "a METIS file");
  const bool weighted = g.weights.index() != 0;
  if (weighted) expect_integers(workers, path, ordered.g, "a METIS file", 1);
  const auto file = create_file(path, check_of(workers));
  file->write(std::to_string(g.num_vertices()) + " " + std::to_string(g.num_edges) +
              (weighted ? " 001\n" : "\n"));
  write_list_lines(workers, *file, ordered.g);
  file->finish();
}

}  // namespace cairn::graph::io
