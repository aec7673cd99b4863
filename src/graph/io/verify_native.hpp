// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "native_file.hpp"

namespace cairn {
class world;
}

namespace cairn::graph::io {

/// Verifies that the file's sections form a graph, so that no value leads outside an array:
/// checksums are correct, offsets do not decrease, the targets of a row ascend and are vertices,
/// weights are finite, labels ascend or are distinct, the header's number of edges is correct; the
/// rows of an undirected graph contain each edge at both its ends, with the same weight.
///
/// Each rank verifies its own rows (pgas::partition) and its share of the checksums.
/// Work      two passes over the file, together O(entries)
/// Throws    input_error with the byte offset, the same on every rank
/// Collective.
void verify_native(world& w, const native_file& file);

}  // namespace cairn::graph::io
