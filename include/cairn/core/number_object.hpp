// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cairn {

/// Reads a file of one object of numbers, {"name": 1.5, ...}.
///
/// expected  what should stand there, for people
/// take      gets each member; false if it cannot use it
/// Throws    input_error naming the file, the member and what was expected
void read_number_object(const std::string& path, const std::string& expected,
                        const std::function<bool(std::string_view name, double value)>& take);

}  // namespace cairn
