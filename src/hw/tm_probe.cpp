// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>

#include <cairn/hw/rtm.hpp>
#include <cairn/hw/tm_probe.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cairn::hw {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr const char* sanitizer = "not under ThreadSanitizer, which cannot follow transactions";
#elif defined(__SANITIZE_ADDRESS__)
constexpr const char* sanitizer =
    "not under AddressSanitizer, whose call before an explicit abort aborts by itself";
#else
constexpr const char* sanitizer = nullptr;
#endif

struct rtm_flags {
  bool present = false;
  bool always_aborts = false;
};

rtm_flags processor_flags() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    return {(ebx & (1u << 11)) != 0, (edx & (1u << 11)) != 0};
  }
#endif
  return {};
}

struct trial {
  int commits = 0;
  std::uint32_t last_status = 0;
};

// An interrupt or a page fault may abort any single transaction, so one failure proves nothing;
// 1,000 failures of a transaction that writes one word do.
constexpr int tries = 1000;

trial run_transactions() {
  trial seen;
  std::uint32_t word = 0;
  const std::atomic_ref<std::uint32_t> cell(word);
  for (int i = 0; i < tries; ++i) {
    const auto before = cell.load(std::memory_order_relaxed);
    const auto status = rtm_begin();
    if (status == rtm_started) {
      cell.store(before + 1, std::memory_order_relaxed);
      rtm_commit();
      if (cell.load(std::memory_order_relaxed) == before + 1) ++seen.commits;
    } else {
      seen.last_status = status;
    }
  }
  return seen;
}

}  // namespace

tm_probe probe_transactions() {
  if (sanitizer) return {false, sanitizer};
  if (!rtm_compiled) return {false, "this processor architecture has no RTM"};
  const auto flags = processor_flags();
  if (!flags.present) return {false, "the processor does not support RTM"};
  if (flags.always_aborts) return {false, "RTM is switched off: every transaction would abort"};
  const auto seen = run_transactions();
  if (seen.commits == 0) {
    return {false, "the processor reports RTM, but all " + std::to_string(tries) +
                       " trial transactions aborted (last status " +
                       std::to_string(seen.last_status) + ")"};
  }
  return {true, std::to_string(seen.commits) + " of " + std::to_string(tries) +
                    " trial transactions committed"};
}

}  // namespace cairn::hw
