// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The instructions of Intel's restricted transactional memory as inline assembly. Only the
// assembler must know them, so a template that uses them needs no -mrtm, and its file is not
// compiled for a processor that may be absent. On a processor without RTM each is an illegal
// instruction (XABORT included): call probe_transactions first.

namespace cairn::hw {

/// The result of rtm_begin when the transaction has begun. Any other value gives the reason of the
/// abort.
inline constexpr std::uint32_t rtm_started = ~std::uint32_t{0};

// Bits of the status of an abort (Intel SDM, volume 1, 16.3.5).
inline constexpr std::uint32_t rtm_status_explicit = 1u << 0;  // XABORT; code in bits 31..24
inline constexpr std::uint32_t rtm_status_retry = 1u << 1;     // a retry may succeed
inline constexpr std::uint32_t rtm_status_conflict = 1u << 2;  // another core accessed the data
inline constexpr std::uint32_t rtm_status_capacity = 1u << 3;  // exceeded the caches

#if defined(__x86_64__)

/// Whether RTM code can be assembled.
inline constexpr bool rtm_compiled = true;

/// Begins a transaction: returns rtm_started, and returns *again*, with a status, each time the
/// transaction aborts. Memory and registers then have their values from the call.
[[nodiscard, gnu::always_inline]] inline std::uint32_t rtm_begin() noexcept {
  // XBEGIN keeps eax when the transaction starts. An abort jumps to its target, here the next
  // instruction, with the status in eax. So one fall-through path serves both cases, and the
  // compiler sees an ordinary statement that sets eax and may change any memory.
  std::uint32_t status = rtm_started;
  asm volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
  return status;
}

/// Commits the running transaction. Faults outside a transaction.
[[gnu::always_inline]] inline void rtm_commit() noexcept { asm volatile("xend" : : : "memory"); }

/// Aborts the running transaction; rtm_begin returns with `Code` in its status. Has no effect
/// outside a transaction.
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
