// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults.hpp"
#include "native_file.hpp"

namespace cairn::graph::io {

/// Adds the faults in the labels of a file whose checksums are correct: see native.hpp.
void verify_labels(const native_file& file, faults& found);

}  // namespace cairn::graph::io
