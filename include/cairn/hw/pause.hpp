// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn::hw {

/// Tells the processor that this is a waiting loop. Takes 5 to 150 cycles.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace cairn::hw
