// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults.hpp"
#include "native_file.hpp"

namespace cairn::graph::io {

/// Adds what is wrong with the labels of a file whose checksums are right: see native.hpp.
void verify_labels(const native_file& file, faults& found);

}  // namespace cairn::graph::io
