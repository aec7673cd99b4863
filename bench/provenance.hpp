// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace cairn::bench {

/// Where numbers come from: {"commit", "command", "machine"}. The commit is that of the sources
/// when the program was built, with "-changed" if they differed from it.
[[nodiscard]] nlohmann::json provenance(int argc, char** argv);

}  // namespace cairn::bench
