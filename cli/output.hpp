// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::cli {

/// Throws    usage_error unless a table can be written under that name
void check_output(const std::string& path);

/// To be asked before long work.
///
/// input     the file that will be read; empty: none
/// Throws    usage_error unless `path` can be written and is another file than the input
void check_writable(const std::string& path, const std::string& input = {});

/// Writes `id,value` for every vertex, by rank 0, by ascending id; no_vertex is empty. Ids that are
/// texts are written as such. Where vertices have another order than ids rank 0 holds all values.
///
/// name      of the value: the header of its column
/// T         Id: counts, or with as_ids vertices, which are written as the input's ids; a whole
///           number of 32 bits: itself; float or double: real numbers
/// Collective.
template <class Id, class T>
void write_values(world& w, const std::string& path, const std::string& name,
                  const graph::dist_csr<Id>& g, const pgas::vertex_map<T>& values,
                  bool as_ids = false);

extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint32_t>&,
                                  const pgas::vertex_map<std::uint32_t>&, bool);
extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint32_t>&,
                                  const pgas::vertex_map<float>&, bool);
extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint32_t>&,
                                  const pgas::vertex_map<double>&, bool);
extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint64_t>&,
                                  const pgas::vertex_map<std::uint64_t>&, bool);
extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint64_t>&,
                                  const pgas::vertex_map<float>&, bool);
extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint64_t>&,
                                  const pgas::vertex_map<double>&, bool);
extern template void write_values(world&, const std::string&, const std::string&,
                                  const graph::dist_csr<std::uint64_t>&,
                                  const pgas::vertex_map<std::uint32_t>&, bool);

}  // namespace cairn::cli
