// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cairn::support {

/// While it lives, an allocation of more than `bytes` by the calling thread throws std::bad_alloc.
/// Test programs that use it replace operator new (starving.cpp).
class starving {
 public:
  explicit starving(std::size_t bytes) noexcept;
  ~starving();
  starving(const starving&) = delete;
  starving& operator=(const starving&) = delete;
};

}  // namespace cairn::support
