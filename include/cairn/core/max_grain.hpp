// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cairn {

/// The maximum number of operators in a group.
inline constexpr std::size_t max_grain = 512;

}  // namespace cairn
