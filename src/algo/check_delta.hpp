// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include <cairn/base/error.hpp>
#include <cairn/base/format.hpp>

namespace cairn::algo {

/// Checks the width of a bucket, for sssp() and for the command before it loads a graph.
///
/// name      what the message calls it
/// Throws    usage_error unless delta is finite and above 1e-307
inline void check_delta(double delta, std::string_view name) {
  if (delta > 0 && std::isnormal(delta)) return;
  throw usage_error(std::string(name) + " is " + format_number(delta) +
                    ", expected a finite number above 1e-307");
}

}  // namespace cairn::algo
