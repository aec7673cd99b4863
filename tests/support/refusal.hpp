// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/base/error.hpp>

namespace cairn::support {

/// The sentence of the input_error that f throws; "accepted" if it throws none.
template <class F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace cairn::support
