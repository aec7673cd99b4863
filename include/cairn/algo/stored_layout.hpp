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
//   [b] uint64 first row, row behind the last, groups, rows in groups
//   [g] uint32 segment, length, rows
//   [r] uint16 rows, less the block's first
//   zeros up to a multiple of 8
//   [s] sources: uint16 if tiled, else as wide as targets
//
// Blocks and what they have come one after the other; all else is as in pull_layout.

/// The layout as bytes to be written beside its graph.
template <class Id>
[[nodiscard]] graph::attachment attachment_of(const pull_layout<Id>& layout);

/// The layout that the graph's file has, or nothing if it has none, or the graph is on several
/// ranks: a layout is of one rank's rows.
///
/// Every source is compared with the graph's in-edges, and copied: a layout that differs from them
/// in anything but the order of rows is refused, and nothing that the file says is believed.
///
/// Work      one pass over layout and in-edges: a fraction of what it takes to build one
/// Throws    input_error, without the file's name; contract_violation for a directed graph without
///           in-edges
/// Called by worker 0 of the rank that has the graph.
template <class Id>
[[nodiscard]] std::optional<pull_layout<Id>> stored_layout(world& w, const graph::dist_csr<Id>& g);

}  // namespace cairn::algo
