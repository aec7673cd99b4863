// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/mechanism.hpp>

#include <CLI/CLI.hpp>

namespace cairn::bench {

/// --grain; `grain` keeps its value if the option is not given.
inline void add_grain(CLI::App& app, std::size_t& grain) {
  app.add_option("--grain", grain, "operators per transaction")
      ->check(CLI::Range(std::size_t{1}, activity::max_grain))
      ->capture_default_str();
}

}  // namespace cairn::bench
