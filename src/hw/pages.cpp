// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/base/format.hpp>
#include <cairn/hw/memory.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::hw {
namespace {

// Larger than any address space, and far enough below 2^64 for the sums below.
constexpr auto max_bytes = std::size_t{1} << 60;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

[[noreturn]] void refuse(std::size_t bytes) {
  const auto available = std::min(available_memory(), available_addresses());
  throw system_failure("cannot allocate " + format_bytes(bytes) + ": " + format_bytes(available) +
                       " is available");
}

void* map(std::size_t bytes) noexcept {
  void* const start =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? nullptr : start;
}

// The kernel aligns to 4 KB, so map 2 MB more and unmap the excess on both sides. Where the limit
// leaves no room for these, the memory lies anywhere.
void* map_aligned(std::size_t bytes) noexcept {
  const auto taken = bytes + huge_page_bytes;
  void* const start = map(taken);
  if (start == nullptr) {
    void* const anywhere = map(bytes);
    if (anywhere != nullptr) static_cast<void>(madvise(anywhere, bytes, MADV_HUGEPAGE));
    return anywhere;
  }
  auto* const first = static_cast<std::byte*>(start);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const auto before = round_up(address, huge_page_bytes) - address;
  const auto after = taken - before - bytes;
  if (before != 0) munmap(first, before);
  if (after != 0) munmap(first + before + bytes, after);
  // Fails if huge pages are not built in or are disabled; small pages work as well.
  static_cast<void>(madvise(first + before, bytes, MADV_HUGEPAGE));
  return first + before;
}

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

pages::pages(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  if (bytes > max_bytes) refuse(bytes);
  if (bytes >= huge_page_bytes) {
    const auto whole = round_up(bytes, page_bytes());
    data_ = map_aligned(whole);
    if (data_ == nullptr) refuse(bytes);
    mapped_bytes_ = whole;
  } else {
    data_ = ::operator new (bytes, std::align_val_t{cache_line}, std::nothrow);
    if (data_ == nullptr) refuse(bytes);
    std::memset(data_, 0, bytes);
  }
}

void pages::shrink(std::size_t bytes) noexcept {
  bytes_ = bytes;
  if (!mapped()) return;
  const auto kept = round_up(bytes, page_bytes());
  if (kept == mapped_bytes_) return;
  if (munmap(static_cast<std::byte*>(data_) + kept, mapped_bytes_ - kept) != 0) return;
  mapped_bytes_ = kept;
  if (kept == 0) data_ = nullptr;
}

void pages::release() noexcept {
  if (mapped()) {
    munmap(data_, mapped_bytes_);
  } else {
    ::operator delete (data_, std::align_val_t{cache_line});
  }
}

void touch_pages(void* begin, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  // A compare-and-swap of a byte with itself is a write to the memory management, and no change to
  // other threads. Compilers may turn an `or` with 0 into a load, which maps no page.
  const auto touch = [](std::byte* at) {
    const std::atomic_ref<std::byte> byte(*at);
    auto found = byte.load(std::memory_order_relaxed);
    byte.compare_exchange_strong(found, found, std::memory_order_relaxed);
  };
  auto* const first = static_cast<std::byte*>(begin);
  const auto unit = page_bytes();
  touch(first);
  for (auto at = unit - reinterpret_cast<std::uintptr_t>(begin) % unit; at < bytes; at += unit) {
    touch(first + at);
  }
}

void drop_pages(void* begin, std::size_t bytes) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const auto unit = page_bytes();
  const auto before = round_up(address, unit) - address;
  if (before >= bytes) return;
  const auto whole = (bytes - before) / unit * unit;
  if (whole == 0) return;
  // Fails for locked memory, which then stays until it is freed.
  static_cast<void>(madvise(static_cast<std::byte*>(begin) + before, whole, MADV_DONTNEED));
}

}  // namespace cairn::hw
