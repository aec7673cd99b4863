// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cairn/task/prefetch.hpp>

namespace cairn::task::detail {
namespace {

constexpr std::int32_t between_probes = 128, between_sure_probes = 1024;
// Odd, so that if every other access is a hint, not every probe meets one.
constexpr std::int32_t between_probes_of_hints = 101;
// A load that takes so many cycles longer than from the nearest cache is worth two switches.
constexpr std::int64_t slow_cycles = 60;
// Of the last probes, by exponentially decreasing weights: 1024 if all were slow.
constexpr std::uint32_t often_slow = 256, almost_always_slow = 900, almost_never_slow = 32;

#if defined(__x86_64__)
constexpr bool can_time = true;

// In units of the time-stamp counter.
std::int64_t cycles_of_load(const void* address) noexcept {
  _mm_lfence();
  const auto before = __rdtsc();
  _mm_lfence();
  static_cast<void>(__atomic_load_n(static_cast<const char*>(address), __ATOMIC_RELAXED));
  _mm_lfence();
  return static_cast<std::int64_t>(__rdtsc() - before);
}
#else
constexpr bool can_time = false;
std::int64_t cycles_of_load(const void*) noexcept { return 0; }
#endif

}  // namespace

void probe_if_due(worker_context& c, const void* address) noexcept {
  if (c.cached) {
    if (c.until_probe > 0) return;
    c.end_batch();
  } else if (address == nullptr || --c.until_probe > 0) {
    return;
  }
  if (address == nullptr) {
    c.until_probe = between_probes_of_hints;
    return;
  }
  if (can_time && c.probes) {
    const auto first = cycles_of_load(address);
    const auto again = cycles_of_load(address);
    c.slowness = c.slowness - c.slowness / 8 + (first - again > slow_cycles ? 128u : 0u);
    c.cached = c.slowness < often_slow;
  }
  const bool sure = c.slowness > almost_always_slow || c.slowness < almost_never_slow;
  c.until_probe = sure ? between_sure_probes : between_probes;
}

}  // namespace cairn::task::detail
