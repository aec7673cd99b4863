// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn {

/// Through which ranks the messages of epoch channels travel: am/route.hpp describes the schemes.
/// `automatic` is `direct`.
enum class routing { automatic, direct, grid, hypercube, machine };

}  // namespace cairn
