// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn::algo {

/// The ends of a flow or of a path: it leads from s to t.
template <class Id>
struct terminals {
  Id s, t;
};

}  // namespace cairn::algo
