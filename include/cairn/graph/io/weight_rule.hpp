// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::graph::io {

/// The numbers that weights may be; each kind includes the next. An integer has only digits,
/// perhaps after a sign; one of 32 bits has a magnitude below 2^31.
enum class weight_numbers : std::uint8_t { real, integer, integer_of_32_bits };

/// The weights that the lines of a text file may have.
struct weight_rule {
  weight_numbers numbers = weight_numbers::real;
  bool not_negative = false;
};

}  // namespace cairn::graph::io
