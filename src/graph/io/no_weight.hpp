// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn::graph::io {

/// The type of the weights that a file without weights has.
struct no_weight {};

}  // namespace cairn::graph::io
