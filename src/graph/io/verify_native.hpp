// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "native_file.hpp"

namespace cairn {
class world;
}

namespace cairn::graph::io {

/// Returns if the file's sections are those of a graph, so that nothing in them leads outside an
/// array: checksums are right, offsets do not decrease, the targets of a row ascend and are
/// vertices, weights are finite, labels ascend, as many edges as the header counts; the rows of
/// an undirected graph hold each edge at both its ends, with the same weight.
///
/// Each rank looks at its own rows (pgas::partition) and its share of the checksums.
/// Work      two passes over the file, together O(entries)
/// Throws    input_error with the byte offset, the same on every rank
/// Collective.
void verify_native(world& w, const native_file& file);

}  // namespace cairn::graph::io
