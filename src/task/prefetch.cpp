// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <cairn/task/prefetch.hpp>

namespace cairn::task::detail {
namespace {

constexpr std::int32_t between_probes = 128, between_sure_probes = 1024;
// A load that takes so many cycles longer than from the nearest cache is worth two switches.
constexpr std::int64_t slow_cycles = 60;
// Of the last probes, by exponentially decreasing weights: 1024 if all were slow.
constexpr std::uint32_t often_slow = 256, almost_always_slow = 900, almost_never_slow = 32;

// In units of the time-stamp counter. 0 on processors for which it is not written.
std::int64_t cycles_of_load([[maybe_unused]] const void* address) noexcept {
#if defined(__x86_64__)
  _mm_lfence();
  const auto before = __rdtsc();
  _mm_lfence();
  static_cast<void>(__atomic_load_n(static_cast<const char*>(address), __ATOMIC_RELAXED));
  _mm_lfence();
  return static_cast<std::int64_t>(__rdtsc() - before);
#else
  return 0;
#endif
}

}  // namespace

void probe_if_due(worker_context& c, const void* address) noexcept {
  if (!c.cached) --c.until_probe;
  if (c.until_probe > 0) return;
  const bool sure = c.slowness > almost_always_slow || c.slowness < almost_never_slow;
  c.until_probe = sure ? between_sure_probes : between_probes;
  if (!c.probes) return;
  const auto first = cycles_of_load(address);
  const auto again = cycles_of_load(address);
  c.slowness = c.slowness - c.slowness / 8 + (first - again > slow_cycles ? 128u : 0u);
  c.cached = c.slowness < often_slow;
}

}  // namespace cairn::task::detail
