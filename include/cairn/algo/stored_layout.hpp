// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <cairn/algo/pull_layout.hpp>
#include <cairn/graph/attachment.hpp>

namespace cairn::algo {

// A pull layout as the attachment "pull-layout" of a .cairn file, little-endian:
//
//   uint64  1 if tiled, else 0          uint64  rows of the largest block
//   uint64  blocks b                    uint64  groups g
//   uint64  rows in groups r            uint64  sources s
//   [b] uint64 first row, end row, groups, rows in groups
//   [g] uint32 segment, length, rows
//   [r] uint16 rows, relative to the block's first
//   zeros up to a multiple of 8
//   [s] sources: uint16 if tiled, else as wide as targets
//
// Groups, rows and sources are in the order of the blocks. Otherwise as in pull_layout.

/// The layout as the bytes of the attachment.
template <class Id>
[[nodiscard]] graph::attachment attachment_of(const pull_layout<Id>& layout);

/// The layout in the graph's file. Nothing if the file has none or there are several ranks: a
/// layout contains the rows of one rank.
///
/// The file is not trusted: the layout is copied and compared with the graph's in-edges, and
/// refused if it differs in anything but the order of rows.
///
/// Work      one pass over layout and in-edges: a fraction of the time to build one
/// Throws    input_error, without the file's name; contract_violation for a directed graph without
///           in-edges
/// Called by worker 0 of the rank that has the graph.
template <class Id>
[[nodiscard]] std::optional<pull_layout<Id>> stored_layout(world& w, const graph::dist_csr<Id>& g);

}  // namespace cairn::algo
