// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The instructions of Intel's restricted transactional memory, inline and without compiler
// flags: only the assembler has to know them, so a template that uses them needs no -mrtm, and
// nothing else in its file may be compiled for a processor that is not there. Executing one
// where the processor lacks RTM is an illegal instruction (XABORT included): ask
// probe_transactions first.

namespace cairn::hw {

/// What rtm_begin returns when the transaction has begun. Any other value says why it aborted.
inline constexpr std::uint32_t rtm_started = ~std::uint32_t{0};

// Bits of the status of an abort (Intel SDM, volume 1, 16.3.5).
inline constexpr std::uint32_t rtm_status_explicit = 1u << 0;  // XABORT; code in bits 31..24
inline constexpr std::uint32_t rtm_status_retry = 1u << 1;     // may succeed if tried again
inline constexpr std::uint32_t rtm_status_conflict = 1u << 2;  // another core touched our data
inline constexpr std::uint32_t rtm_status_capacity = 1u << 3;  // outgrew the caches

#if defined(__x86_64__)

/// True where RTM code can be assembled at all.
inline constexpr bool rtm_compiled = true;

/// Begins a transaction: returns rtm_started, and returns *again*, with a status, each time
/// that it aborts; memory and registers are then as they were at the call.
[[nodiscard, gnu::always_inline]] inline std::uint32_t rtm_begin() noexcept {
  // XBEGIN leaves eax alone when it starts; an abort lands on its target, here the very next
  // instruction, with eax the status. So one fall-through path serves both, and the compiler
  // sees an ordinary statement that sets eax and may change any memory.
  std::uint32_t status = rtm_started;
  asm volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
  return status;
}

/// Makes the running transaction's writes visible all at once. Outside one: a fault.
[[gnu::always_inline]] inline void rtm_commit() noexcept { asm volatile("xend" : : : "memory"); }

/// Ends the running transaction without a trace; rtm_begin returns with `Code` in its status.
/// Outside a transaction it does nothing and returns.
template <std::uint8_t Code>
[[gnu::always_inline]] inline void rtm_abort() noexcept {
  asm volatile("xabort %0" : : "i"(Code) : "memory");
}

#else

inline constexpr bool rtm_compiled = false;
[[nodiscard]] inline std::uint32_t rtm_begin() noexcept { return 0; }
inline void rtm_commit() noexcept {}
template <std::uint8_t Code>
inline void rtm_abort() noexcept {}

#endif

}  // namespace cairn::hw
