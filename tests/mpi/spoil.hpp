// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

// Faults of one rank under mpiexec before it has a world:
//
//   spoil RANK HOW ARGUMENTS...   a program with ARGUMENTS, of which rank RANK
//     threads    has address space for few threads
//     plugin     is told to look for the plugin where there is none
//     setting    has a setting that cannot be used
//     memory:K   gets no memory from operator new the K-th time
//     starved:K  nor from then on
namespace cairn::support {

inline std::atomic<long> news_until_none{-1};  // negative: memory never ends
inline long news_wanted = -1;
inline bool ends_for_good = false;

inline int rank_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* const value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

/// From here on memory may end. Called after the last allocation of the test itself.
inline void begin_to_count_news() { news_until_none = news_wanted; }

/// The arguments behind "spoil RANK HOW", changed for the rank that is to fail, and this process
/// spoiled if it is that.
inline std::vector<std::string> spoiled(const std::vector<std::string>& arguments) {
  std::vector<std::string> others{arguments[0]};
  others.insert(others.end(), arguments.begin() + 4, arguments.end());
  if (rank_by_launcher() != std::stoi(arguments[2])) return others;
  const auto& mode = arguments[3];
  if (mode == "threads") {
    // MPI has threads of its own, a few.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 30);
    pthread_setattr_default_np(&attributes);
    const rlimit limit{std::size_t{16} << 30, std::size_t{16} << 30};
    setrlimit(RLIMIT_AS, &limit);
  } else if (mode == "plugin") {
    others.insert(others.end(), {"--plugins", "/nowhere"});
  } else if (mode == "setting") {
    others.insert(others.end(), {"--threads", "none"});
  } else if (mode.starts_with("memory:") || mode.starts_with("starved:")) {
    ends_for_good = mode[0] == 's';
    news_wanted = std::stol(mode.substr(mode.find(':') + 1));
  } else {
    std::abort();
  }
  return others;
}

}  // namespace cairn::support

// The library's allocations, and nobody else's: MPI is C.
// Not inlined: g++ 12 would warn of malloc and delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  using namespace cairn::support;
  if (news_until_none.load(std::memory_order_relaxed) >= 0) {
    const auto left = news_until_none.fetch_sub(1) - 1;
    if (left <= 0 && (left == 0 || ends_for_good)) {
      if (ends_for_good) news_until_none = 1;
      throw std::bad_alloc();
    }
  }
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
