// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/activity/mechanism.hpp>

#include <bench/argument_list.hpp>

namespace cairn::bench {

/// --grain; `grain` keeps its value if the option is not given.
inline void add_grain(argument_list& arguments, std::size_t& grain) {
  arguments.number("--grain", grain, {std::size_t{1}, cairn::max_grain},
                   "operators per transaction");
}

}  // namespace cairn::bench
