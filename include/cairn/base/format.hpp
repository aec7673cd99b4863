// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cairn {

/// Three digits in decimal units: "3.10 GB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
/// The shortest text that reads back as x: "0.85".
[[nodiscard]] std::string format_number(double x);

}  // namespace cairn
