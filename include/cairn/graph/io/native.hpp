// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <cairn/graph/builder.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/words.hpp>

namespace cairn {
class world;
}

namespace cairn::graph::io {

// The .cairn format, versions 1 to 6, little-endian. A header of one page (4096 bytes, padded with
// zeros) is followed by up to five sections. Each section begins at a page, with zeros between:
//
//   bytes  field
//       8  89 'c' 'a' 'i' 'r' 'n' 0d 0a
//       4  version: 1 to 3 by the kind of labels, plus 3 with an attachment
//       4  1 if directed, else 0
//       4  bytes of a target: 4 or 8
//       4  weights: 0 none, 1 int32, 2 double
//       8  vertices n          8  list entries m          8  edges
//  4 x 24  offset, bytes, checksum of each section (offset and bytes 0 if absent)
//       8  checksum of the preceding fields
//          in versions 4 to 6:
//      16  name of the attachment, padded with zeros
//      24  its offset, bytes, checksum
//       8  checksum of these two fields
//
//   offsets  uint64 [n + 1]: row v is entries offsets[v] .. offsets[v + 1]
//   targets  uint32 or uint64 [m]: each row ascending
//   weights  [m]; absent without weights
//   labels   ids of the vertices; absent if they are 0 .. n - 1
//            versions 1, 4: uint64 [n], ascending
//            versions 2, 5: uint64 [n], distinct
//            versions 3, 6: distinct texts: offsets uint64 [n + 1], then the characters;
//            text v is characters [offset v, offset v + 1)
//   attachment  data of another layer, which checks it (cairn/graph/attachment.hpp)
//
// An undirected edge has an entry in the rows of both its ends, with the same weight; a self-loop
// has one. A file that violates any of this is rejected; only the zeros between sections are not
// verified.

/// A whole graph as the arrays of the format.
struct native_graph {
  bool directed = false;
  std::uint64_t num_edges = 0;
  std::span<const std::uint64_t> offsets;
  std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>> targets;
  std::variant<std::monostate, std::span<const std::int32_t>, std::span<const double>> weights;
  std::span<const std::uint64_t> labels;  ///< by vertex; empty: vertex v has id v
  const word_list* words = nullptr;       ///< if set, the id of vertex v is words[labels[v]]
  std::vector<std::shared_ptr<const void>> kept = {};  ///< owns arrays that the graph does not have
  std::optional<attachment> attached = {};             ///< not set by native_view()

  [[nodiscard]] std::uint64_t label_of(std::uint64_t v) const noexcept {
    return labels.empty() ? v : labels[v];
  }
  [[nodiscard]] std::uint64_t num_vertices() const noexcept { return offsets.size() - 1; }
};

/// The arrays of a graph on one rank. Valid as long as `g`.
/// Memory    8 bytes a vertex unless every vertex is its own id; the weights' 4 or 8 bytes an entry
/// Throws    contract_violation if the graph is distributed to several ranks; system_failure if an
///           allocation fails
template <class Id>
[[nodiscard]] native_graph native_view(const dist_csr<Id>& g);

/// Writes a .cairn file, compressed if its name's ending says so. `g` may be a view of the file of
/// that name, which is replaced (see output_file).
///
/// Throws    usage_error if the file cannot be written, system_failure if writing fails
/// Called by worker 0 of one rank.
void write_native(task::pool& workers, const std::string& path, const native_graph& g);

/// Reads a .cairn file. A plain file is mapped and the graph is a view of it; only labels, and
/// with weights each rank's own entries, are copied. The file is verified first: header, bounds and
/// checksums (each rank verifies a share of the chunks); in each rank's rows, that offsets do not
/// decrease and that targets ascend, are vertices and have finite weights; that the rows of an
/// undirected graph contain each edge at both its ends with the same weight; that the header's
/// number of edges is correct. Of an attachment only the checksum is verified; only a graph on one
/// rank has it.
///
/// with_weights  false: the graph has none, even if the file has
/// Memory    beyond the mapping: the labels, and own entries with weights; for a compressed file
///           the whole graph on each rank
/// Throws    input_error with the byte offset; usage_error if that is more than the available
///           memory, before allocation; system_failure if an allocation fails; the same on every
///           rank
/// Collective.
[[nodiscard]] any_graph read_native(world& w, const std::string& path,
                                    partition_kind partition = partition_kind::vertices,
                                    bool with_weights = true);

extern template native_graph native_view(const dist_csr<std::uint32_t>&);
extern template native_graph native_view(const dist_csr<std::uint64_t>&);

}  // namespace cairn::graph::io
