// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <cairn/activity/mechanism.hpp>

namespace cairn::activity {

/// How an executor ran its operators most recently.
struct ran {
  activity::mechanism mechanism = activity::mechanism::plain;
  std::size_t grain = 1;  ///< operators per activity
  std::string why;        ///< one clause; empty if nothing was chosen
};

}  // namespace cairn::activity
